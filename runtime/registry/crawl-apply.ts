/** From what a crawl found to a change of its publisher. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../db/types.js";
import { publishersByDomain } from "../store/registry-lookups.js";
import type { PropertySource, PublisherRow } from "../store/registry-publishers.js";
import { brandProperties, presentBrand } from "./brand.js";
import type { SourceSet } from "./matching.js";
import {
  makeRows,
  type PreparedChange,
  PreparedSet,
  type PublisherChange,
  type PublisherFacts,
  prepare,
} from "./prepared.js";
import { setOfFile } from "./project.js";
import type { CrawlResult } from "./types.js";

/** Longest final URL kept (docs/protocol/files.md#what-a-crawl-does, 6). */
const RESOLVED_LIMIT = 2048;

const noBrand = { brand_name: null, brand_key: null, brand_agents: null } as const;

function changeOfCrawl(result: CrawlResult): PublisherChange {
  const { adagents, brand } = result;
  const sets: Partial<Record<PropertySource, SourceSet>> = {};
  const file = adagents.outcome === "valid" ? adagents.file : undefined;
  if (file !== undefined) sets.adagents_json = setOfFile(file);
  if (brand.outcome === "present") sets.brand_json = { properties: brandProperties(brand.properties), agents: [] };
  return {
    domain: result.domain,
    facts: (before) => ({ ...adagentsFacts(result, before), ...brandFacts(brand, before) }),
    sets,
    ...(file !== undefined && { others: file.others }),
  };
}

/** The same, where what the brand file said comes to its end. */
export const withoutBrand = (change: PreparedChange, result: CrawlResult): PreparedChange => ({
  ...change,
  facts: (before) => ({ ...adagentsFacts(result, before), brand_outcome: result.brand.outcome, ...noBrand }),
  sets: [...change.sets, new PreparedSet("brand_json", { properties: [], agents: [] }, change.now)],
});

/** Properties and entries from which on a change is worked out in several turns: some ten milliseconds of work. */
const LARGE_SET = 1_000;

/**
 * What a crawl changes, worked out before its transaction, and with large files a turn of the event loop between the parts:
 * the transaction itself is one piece, for nobody may see half a file.
 * @param now unix milliseconds
 */
export async function preparedCrawl(db: Database, result: CrawlResult, now: number): Promise<PreparedChange> {
  const change = prepare(changeOfCrawl(result), now);
  if (!change.sets.some(({ set }) => set.properties.length + set.agents.length >= LARGE_SET)) return change;
  const [row] = await db.query((q) => publishersByDomain(q, [change.domain]));
  const before = JSON.parse(row?.digests ?? "{}") as Record<string, string>;
  for (const set of change.sets) {
    if (set.digest === before[set.source]) continue;
    await nextTurn();
    makeRows(set);
  }
  await nextTurn();
  return change;
}

/** A fetch that failed says how it failed, and leaves all else as the last good one had it. */
function adagentsFacts({ adagents, crawledAt }: CrawlResult, before: PublisherRow): PublisherFacts {
  const tried: PublisherFacts = {
    // The interchange format knows no `held`: to others the origin gave nothing that counts.
    outcome: adagents.outcome === "held" ? "unreachable" : adagents.outcome,
    crawled_at: crawledAt,
    http_status: adagents.httpStatus,
    bytes: adagents.bytes,
    ...(adagents.outcome !== "unreachable" && { problems: JSON.stringify(adagents.problems) }),
  };
  switch (adagents.outcome) {
    case "valid":
      return {
        ...tried,
        valid: 1,
        validated_at: crawledAt,
        method: adagents.method,
        manager_domain: adagents.managerDomain,
        resolved_url: adagents.resolvedUrl?.slice(0, RESOLVED_LIMIT) ?? null,
        properties_declared: adagents.file?.propertiesDeclared ?? null,
      };
    case "invalid":
      return { ...tried, valid: before.valid ?? 0 };
    case "absent":
    case "unreachable":
    case "held":
      return tried;
  }
}

function brandFacts(brand: CrawlResult["brand"], before: PublisherRow): PublisherFacts {
  if (brand.outcome === "present") return presentBrand(brand);
  return before.brand_outcome === "present" ? {} : { brand_outcome: brand.outcome };
}
