/** Asks the origins of hosted files whether they point at the registry (docs/protocol/registry.md#hosting). */
import { wellKnownRedirects } from "../../net/index.js";
import { eachAlone } from "../../queue/periodic.js";
import { MAX_ADAGENTS_BYTES } from "../../signing/discovery/pin.js";
import { expectedUrl, hostedUrl } from "../model.js";
import type { RegistryData } from "../types.js";
import { fetchDocument, type NotFetched } from "./document.js";
import type { Origin } from "./locate.js";
import type { CrawlMetrics } from "./metrics.js";
import type { OriginAnswer } from "./types.js";

/** Origins asked in one go, and at once. */
const BATCH = 50;
const AT_ONCE = 5;
/** What was verified counts for this long while the origin does not answer, in milliseconds. */
const GRACE_MS = 86_400_000;

export interface HostedFileDependencies {
  readonly data: Pick<RegistryData, "hostedFile" | "hostedDue" | "originChecked">;
  readonly origin: Origin;
  readonly metrics: CrawlMetrics;
  readonly recheckMs: number;
  readonly now: () => number;
}

/** Of a document that could not be had: whether that says something of the origin's wish. */
function answerOf({ kind, message: detail, status }: NotFetched): OriginAnswer {
  switch (kind) {
    case "absent":
      return { verdict: "unverified", reason: "not_found", detail };
    case "redirect":
    case "shape":
    case "too_large":
      return { verdict: "unverified", reason: "no_authoritative_location", detail };
    case "syntax":
      return { verdict: "unknown", reason: "invalid_json", detail };
    case "connection":
      return { verdict: "unknown", reason: status === null ? "unresolvable" : "transient", detail };
    case "timeout":
    case "status":
    case "answer":
    case "aborted":
    case "opted_out":
      return { verdict: "unknown", reason: "transient", detail };
  }
}

async function ask({ fetch, signal, publicUrl }: Origin, domain: string): Promise<OriginAnswer> {
  const found = await fetchDocument(fetch, expectedUrl(domain), {
    maxBytes: MAX_ADAGENTS_BYTES,
    redirects: wellKnownRedirects,
    signal,
  });
  if (!found.ok) return answerOf(found);
  const { authoritative_location: location } = found.value;
  if (location === hostedUrl(publicUrl, domain))
    return { verdict: "verified", reason: "authoritative_location_pointer" };
  if (typeof location !== "string") return { verdict: "unverified", reason: "no_authoritative_location" };
  return {
    verdict: "unverified",
    reason: "authoritative_location_mismatch",
    detail: `it points to ${location.slice(0, 500)}`,
  };
}

export interface HostedChecks {
  /** What is to be done every so often. */
  due(): Promise<void>;
  /** Asks one origin now; its answer counts. */
  now(domain: string): Promise<OriginAnswer>;
}

export function hostedChecks({ data, origin, metrics, recheckMs, now }: HostedFileDependencies): HostedChecks {
  /** Origins that did not answer while their last answer still counts, and when they are asked again. */
  const postponed = new Map<string, number>();

  const check = async (domain: string): Promise<OriginAnswer> => {
    const answer = await ask(origin, domain);
    const { verdict } = answer;
    metrics.checkedHosted(verdict);
    const at = now();
    const before = verdict === "unknown" ? (await data.hostedFile(domain))?.originVerifiedAt : undefined;
    if (typeof before === "number" && at - before < GRACE_MS) postponed.set(domain, at + recheckMs);
    else await data.originChecked(domain, { verified: verdict === "verified", at });
    return answer;
  };

  const due = async (): Promise<void> => {
    const at = now();
    for (const [domain, until] of postponed) if (until <= at) postponed.delete(domain);
    const found = await data.hostedDue(at - recheckMs, BATCH + postponed.size);
    const waiting = found.filter((domain) => !postponed.has(domain)).slice(0, BATCH);
    // One iterator: each of the turns takes the next domain of all.
    const next = waiting.values();
    const turn = () =>
      eachAlone(next, async (domain) => {
        if (!origin.signal?.aborted) await check(domain);
      });
    await eachAlone(await Promise.allSettled(Array.from({ length: AT_ONCE }, turn)), async (turned) => {
      if (turned.status === "rejected") throw turned.reason;
    });
  };
  return { due, now: check };
}
