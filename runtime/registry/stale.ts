/**
 * What a publisher's file said comes to its end (docs/protocol/files.md#what-a-crawl-does, 1): nobody may sell by it for
 * ever.
 */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { publishersStale } from "../store/registry-lookups.js";
import { lockPublishers, type PublisherRow } from "../store/registry-publishers.js";
import { type FileProblem, fileProblem } from "./file-problems.js";
import { type PublisherChange, type PublisherFacts, prepare } from "./prepared.js";
import { verifiedOwner } from "./publisher.js";
import { writePublishers } from "./publisher-write.js";
import { finish } from "./recompute.js";

const ended = fileProblem("ended", "", "no valid file for seven days: what the last one said has ended");

/** An explicit fault of the file stays known; else nothing is, as before the first crawl. */
const endedFacts = ({ outcome, problems }: PublisherRow): PublisherFacts => ({
  valid: outcome === "invalid" ? 0 : null,
  method: null,
  manager_domain: null,
  resolved_url: null,
  properties_declared: null,
  problems: JSON.stringify([ended, ...(JSON.parse(problems ?? "[]") as FileProblem[])]),
});

const nothing = { properties: [], agents: [], genres: [], taxonomy: null } as const;

const changeOf = ({ domain }: PublisherRow): PublisherChange => ({
  domain,
  facts: endedFacts,
  sets: { adagents_json: nothing },
  others: [],
});

/**
 * Ends what files said whose publishers were asked again since, and had no valid one.
 * @param before last validated by then, in unix milliseconds
 * @returns their domains
 */
export function* endStale(
  q: Query,
  { before, limit, now }: { readonly before: number; readonly limit: number; readonly now: number },
): Coroutine<string[]> {
  const rows = yield* publishersStale(q, before, limit);
  if (rows.length === 0) return [];
  yield* finish(
    q,
    yield* writePublishers(
      q,
      rows.map((row) => prepare(changeOf(row), now)),
    ),
    now,
  );
  return rows.map(({ domain }) => domain);
}

/**
 * Ends what a publisher's file said whose origin said at the last crawl that there is none, by its owner's word.
 * @returns whether there was something to end
 */
export function* endAbsent(
  q: Query,
  { domain, organization, now }: { readonly domain: string; readonly organization: string; readonly now: number },
): Coroutine<boolean> {
  const owner = yield* verifiedOwner(q, [domain]);
  if (owner === undefined || owner.organization !== organization) return false;
  const row = (yield* lockPublishers(q, [domain])).get(domain)!;
  if (row.outcome !== "absent" || row.valid !== 1) return false;
  yield* finish(q, yield* writePublishers(q, [prepare(changeOf(row), now)]), now);
  return true;
}
