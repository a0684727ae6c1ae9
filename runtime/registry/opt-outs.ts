/** Owners who want nothing fetched or told of their domains: what was found ends, and nothing is fetched any more. */
import { setTimeout as delay } from "node:timers/promises";
import type { Coroutine } from "../db/coroutine.js";
import type { Database, Query } from "../db/types.js";
import { lockAgents } from "../store/registry-agents.js";
import { brandFileState, removeBrandFile } from "../store/registry-brands.js";
import { claimantsAbout, removeClaimsAbout } from "../store/registry-claims.js";
import { tick } from "../store/registry-clock.js";
import { lockDomain } from "../store/registry-crawl.js";
import { publishersByDomain } from "../store/registry-lookups.js";
import {
  activeUnder,
  addOptOut,
  holdOptOut,
  optOutEnded,
  optOuts,
  optOutsEnding,
  publishersUnder,
  removeOptOut,
} from "../store/registry-opt-outs.js";
import { addCounts } from "../store/registry-profiles.js";
import { awaitNewPublishers, lockPublishers, updatePublishers } from "../store/registry-publishers.js";
import { fileProblem } from "./file-problems.js";
import type { OptOutData } from "./listed-types.js";
import { byCodePoint, iso } from "./model.js";
import { type PublisherChange, prepare } from "./prepared.js";
import { writePublishers } from "./publisher-write.js";
import { finish } from "./recompute.js";

/** Publishers ended in one transaction. */
const ENDED_AT_ONCE = 20;

/** Between looks whether claims that are being written are written, in milliseconds. */
const CLAIMS_WAIT_MS = 50;

const none = { properties: [], agents: [], genres: [], taxonomy: null } as const;
const wish = fileProblem("opted_out", "", "its owner wants nothing fetched or told");

const ended = (domain: string): PublisherChange => ({
  domain,
  facts: () => ({
    ...{ valid: null, outcome: null, method: null, manager_domain: null, resolved_url: null },
    ...{ http_status: null, bytes: null, properties_declared: null, problems: JSON.stringify([wish]) },
    ...{ brand_outcome: null, brand_name: null, brand_key: null, brand_agents: null },
  }),
  sets: { adagents_json: none, brand_json: none, discovered: none },
  others: [],
});

function* idsOf(q: Query, domains: readonly string[]): Coroutine<number[]> {
  return (yield* publishersByDomain(q, domains)).map(({ id }) => id);
}

/**
 * Has what others say of some publishers written anew when they are crawled next, though their files stay as they are: what ends here
 * would not come back else when the owner thinks better of it. In a transaction of its own, since publishers are locked in one order.
 */
function* forgetClaims(q: Query, domains: readonly string[]): Coroutine<void> {
  const claimants = yield* claimantsAbout(q, yield* idsOf(q, domains));
  // What an agent says of itself is always written anew.
  const files = (yield* publishersByDomain(q, claimants)).map(({ domain }) => domain);
  const rows = yield* lockPublishers(q, files.sort(byCodePoint));
  const forgotten = [...rows.values()].map((row) => {
    const { others: _, ...digests } = JSON.parse(row.digests ?? "{}") as Record<string, string>;
    return { ...row, digests: JSON.stringify(digests) };
  });
  yield* updatePublishers(q, forgotten);
}

interface Ending {
  readonly optedOut: string;
  /** It, or what is under it. */
  readonly domains: readonly string[];
}

/** @returns whether the owner still wants it: what is known of who has thought better of it stays */
function* end(q: Query, { optedOut, domains }: Ending, now: number): Coroutine<boolean> {
  // Before publishers: nobody asks for it who holds one.
  if (!(yield* holdOptOut(q, optedOut))) return false;
  for (const domain of domains) {
    const known = yield* brandFileState(q, domain);
    if (known !== undefined) yield* removeBrandFile(q, known.publisher);
  }
  const changes = domains.map((domain) => prepare(ended(domain), now));
  const written = yield* writePublishers(q, changes);
  // As who writes an agent's claims: the agent, then what it claims. Else each could hold what the other waits for.
  yield* lockAgents(q, written.agents);
  const claims = yield* removeClaimsAbout(q, yield* idsOf(q, domains));
  const counts = [...written.counts, { kind: "authorizations", name: "agent_claim", by: -claims }];
  yield* finish(q, { ...written, counts }, now);
  return true;
}

/** Ends what others say that was being written meanwhile: it is gone with that, or is there again. @returns whether some is left */
function* endClaims(q: Query, { optedOut, domains }: Ending): Coroutine<boolean> {
  const ids = yield* idsOf(q, domains);
  if ((yield* claimantsAbout(q, ids)).length === 0 || !(yield* holdOptOut(q, optedOut))) return false;
  const claims = yield* removeClaimsAbout(q, ids);
  if (claims > 0) {
    yield* tick(q);
    yield* addCounts(q, [{ kind: "authorizations", name: "agent_claim", by: -claims }]);
  }
  return (yield* claimantsAbout(q, ids)).length > 0;
}

/** Ends all that is known of a domain whose owner has opted out, and of what is under it. @returns what has ended */
async function endUnder(db: Database, domain: string, now: () => number): Promise<string[]> {
  // A crawl that is just being kept has not seen the wish: it is waited for, and what it keeps ends with the rest.
  for (const active of await db.query((q) => activeUnder(q, domain)))
    await db.write((q) => lockDomain(q, active, now()));
  // So are those who make publishers: of one that nobody knew a claim may be about to be kept.
  await db.write(awaitNewPublishers);
  const domains = await db.query((q) => publishersUnder(q, domain));
  for (let at = 0; at < domains.length; at += ENDED_AT_ONCE) {
    const some = domains.slice(at, at + ENDED_AT_ONCE);
    await db.write((q) => forgetClaims(q, some));
    const ending = { optedOut: domain, domains: some };
    if (!(await db.write((q) => end(q, ending, now())))) return domains.slice(0, at);
    while (await db.write((q) => endClaims(q, ending))) await delay(CLAIMS_WAIT_MS);
  }
  await db.write((q) => optOutEnded(q, domain));
  return domains;
}

export const optOutData = ({
  db,
  now,
  domainOf,
}: {
  readonly db: Database;
  readonly now: () => number;
  readonly domainOf: (text: string) => string;
}): OptOutData => ({
  async optOut(text) {
    const domain = domainOf(text);
    await db.write((q) => addOptOut(q, domain, now()));
    return endUnder(db, domain, now);
  },
  async endOptedOut() {
    const domains = await db.query(optOutsEnding);
    for (const domain of domains) await endUnder(db, domain, now);
    return domains;
  },
  optIn: async (text) => {
    const domain = domainOf(text);
    return db.write((q) => removeOptOut(q, domain));
  },
  optedOut: async () => (await db.query((q) => optOuts(q))).map(({ domain, since }) => ({ domain, since: iso(since) })),
});
