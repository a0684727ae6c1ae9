/** Crawls one domain: both of its files, as far as they may speak for it. Nothing is written here. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { brandUrlOf } from "../../signing/discovery/brand-file.js";
import { fileProblem } from "../file-problems.js";
import { expectedUrl } from "../model.js";
import type { CrawlResult } from "../types.js";
import { readAuthorizationFile } from "./authorization-file.js";
import { type BrandOrigin, crawlBrand } from "./brand.js";
import { CRAWL_ERRORS } from "./errors.js";
import { type FoundFile, type Quarantine, revokerOf } from "./file-rules.js";
import { type Located, locate, type NotLocated, type Origin } from "./locate.js";
import type { Robots } from "./robots.js";

export interface CrawlContext extends Origin {
  readonly now: () => number;
  /** Domains whose revocation by a file is still held. @param revoker the file, as `revokerOf` names it */
  readonly revokedBy: (revoker: string) => Promise<readonly string[]>;
  /** Judges a valid file; default none is held back. @returns undefined where it is taken */
  readonly file?: (found: FoundFile) => Quarantine | undefined;
  /** What the domain's robots.txt says; default nobody asks it. */
  readonly robots?: Robots;
}

export interface Crawled {
  readonly result: CrawlResult;
  /** The same may go better later. */
  readonly retry: boolean;
  /** The caller gave up on it: the result says nothing of the origin. */
  readonly aborted: boolean;
  /** Why there is no valid file, for anyone; null where there is. */
  readonly error: string | null;
  /** The same, for our own logs. */
  readonly detail: string | null;
  /** What the result says when it is the last word: an answer that stays no JSON is the file's fault. */
  readonly last: CrawlResult;
  /** What the file revokes, and which file it is. */
  readonly revocations: { readonly revoker: string; readonly domains: readonly string[] } | null;
  /** When a file that is held back is taken if it stays, in unix milliseconds. */
  readonly heldUntil: number | null;
}

interface Judged extends Pick<Crawled, "error" | "revocations" | "heldUntil" | "retry"> {
  readonly adagents: Adagents;
}

/** Files from here on take some milliseconds to parse, and again to read. */
const LARGE_BYTES = 256 * 1024;

type Adagents = CrawlResult["adagents"];

const provenanceOf = (found: Located | NotLocated): Omit<Adagents, "outcome" | "problems" | "file"> => ({
  method: found.method,
  managerDomain: found.managerDomain,
  httpStatus: found.status,
  bytes: found.bytes,
  resolvedUrl: found.resolvedUrl,
});

async function judged(found: Located, domain: string, { now, revokedBy, file: ruleOf }: CrawlContext): Promise<Judged> {
  const revoker = revokerOf(found.url);
  // It was parsed in this turn, and is read in another: a large file must not keep everything else waiting.
  const large = (found.bytes ?? 0) >= LARGE_BYTES;
  if (large) await nextTurn();
  const read = readAuthorizationFile(found.document, {
    domain,
    via: found.via,
    revoked: await revokedBy(revoker),
    now: now(),
  });
  if (large) await nextTurn();
  const provenance = provenanceOf(found);
  const none = { revocations: null, heldUntil: null, retry: false };
  if (!read.ok) {
    const { problems } = read;
    return { ...none, adagents: { ...provenance, outcome: "invalid", problems }, error: problems[0].message };
  }
  const { file, problems, revokes } = read;
  const { url: source, pointed } = found;
  const quarantine = ruleOf?.({ source, pointed, lastUpdated: file.lastUpdated });
  if (quarantine !== undefined) {
    const { message } = quarantine;
    // As an answer that says come again: another edge of the same origin may have the newer one.
    const adagents = {
      ...provenance,
      outcome: "held",
      problems: [fileProblem("held_back", "/last_updated", message)],
    } as const;
    return { ...none, adagents, error: message, retry: true };
  }
  return {
    ...none,
    adagents: { ...provenance, outcome: "valid", problems, file },
    error: null,
    revocations: revokes.length === 0 ? null : { revoker, domains: revokes },
  };
}

const ROBOTS = CRAWL_ERRORS.robots;

/** As of an origin that cannot be reached: what is known ends when its time is over, and it is asked ever less often. */
function kept(domain: string, context: CrawlContext, brand: CrawlResult["brand"]): Crawled {
  const provenance = {
    method: "direct",
    managerDomain: null,
    httpStatus: null,
    bytes: null,
    resolvedUrl: null,
  } as const;
  const adagents = { ...provenance, outcome: "unreachable", problems: [fileProblem("robots", "", ROBOTS)] } as const;
  const result: CrawlResult = { domain, crawledAt: context.now(), adagents, brand };
  const nothing = { revocations: null, heldUntil: null } as const;
  return { result, last: result, retry: false, aborted: false, error: ROBOTS, detail: ROBOTS, ...nothing };
}

const noBrand = { outcome: "unreachable", name: null, properties: [], agents: [] } as const;

/** Fetches what the domain lets robots fetch. */
async function fetched(context: CrawlContext, domain: string) {
  const { robots, fresh = false } = context;
  const allowed = (path: string, again: boolean) => robots?.(domain, path, again) ?? true;
  const adagents = await allowed(new URL(expectedUrl(domain)).pathname, fresh);
  const brand = await allowed(new URL(brandUrlOf(domain)).pathname, false);
  return Promise.all([
    adagents ? locate(context, domain) : undefined,
    brand ? crawlBrand(context satisfies BrandOrigin, domain) : noBrand,
  ]);
}

/** @see Crawled */
export async function crawlDomain(context: CrawlContext, domain: string): Promise<Crawled> {
  const [found, brand] = await fetched(context, domain);
  if (found === undefined) return kept(domain, context, brand);
  const crawledAt = context.now();
  const of = (adagents: Adagents): CrawlResult => ({ domain, crawledAt, adagents, brand });
  if (found.ok) {
    const { adagents, ...rest } = await judged(found, domain, context);
    const result = of(adagents);
    return { result, last: result, aborted: false, detail: rest.error, ...rest };
  }
  const failed = {
    ...provenanceOf(found),
    problems: [fileProblem(found.outcome === "held" ? "held_back" : "not_fetched", "", found.message)],
  };
  return {
    result: of({ ...failed, outcome: found.outcome }),
    last: of({ ...failed, outcome: found.malformed ? "invalid" : found.outcome }),
    retry: found.outcome === "unreachable" && !found.leftAlone,
    aborted: found.aborted,
    error: found.message,
    detail: found.detail,
    revocations: null,
    heldUntil: found.heldUntil,
  };
}
