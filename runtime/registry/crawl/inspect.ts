/** Looks at a publisher's file for whoever wants to know what is wrong with it: nothing is kept. */
import { isJsonObject } from "../../contract/json-object.js";
import type { Lookup } from "../../net/index.js";
import type { CrawlResult } from "../types.js";
import { readAuthorizationFile } from "./authorization-file.js";
import { type Crawled, crawlDomain } from "./crawl.js";
import type { Origin } from "./locate.js";
import { safetyCheck } from "./safety.js";

export type Inspected = CrawlResult["adagents"];

/** Fetches and reads the file of a domain; undefined for one that is none in public, or whose owner wants nothing fetched. */
export function inspector(
  origin: Origin,
  {
    lookup,
    optedOut,
    now,
  }: {
    readonly lookup: Lookup;
    readonly optedOut: (domain: string) => Promise<boolean>;
    readonly now: () => number;
  },
): (domain: string) => Promise<Inspected | undefined> {
  const safe = safetyCheck(lookup);
  return async (domain) => {
    if ((await optedOut(domain)) || (await safe(domain)) === "unsafe") return undefined;
    // Whoever looks has just changed something as often as not, and it may be the manager's file.
    const { last }: Crawled = await crawlDomain({ ...origin, fresh: true, now, revokedBy: async () => [] }, domain);
    return last.adagents;
  };
}

/** Reads a file as if it stood at a domain. */
export function inspectFile(file: unknown, domain: string, now: number): Inspected {
  const provenance = {
    method: "direct",
    managerDomain: null,
    httpStatus: null,
    bytes: null,
    resolvedUrl: null,
  } as const;
  const document = isJsonObject(file) ? file : {};
  const read = readAuthorizationFile(document, { domain, via: "own", now });
  return read.ok
    ? { ...provenance, outcome: "valid", problems: read.problems, file: read.file }
    : { ...provenance, outcome: "invalid", problems: read.problems };
}
