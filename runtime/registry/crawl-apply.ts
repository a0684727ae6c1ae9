/** From what a crawl found to a change of its publisher. */
import type { PropertySource, PublisherRow } from "../store/registry-publishers.js";
import { brandProperties } from "./brand.js";
import type { PublisherChange, PublisherFacts } from "./prepared.js";
import { type SourceSet, setOfFile } from "./project.js";
import type { CrawlResult } from "./types.js";

/** Longest final URL kept (registry-facts.md 7). */
const RESOLVED_LIMIT = 2048;

export function changeOfCrawl(result: CrawlResult): PublisherChange {
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
  if (brand.outcome === "present") return { brand_outcome: "present", brand_name: brand.name };
  return before.brand_outcome === "present" ? {} : { brand_outcome: brand.outcome };
}
