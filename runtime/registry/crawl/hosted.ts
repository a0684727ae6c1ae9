/** Asks the origins of hosted files whether they point at the registry (registry-facts.md 2, `hosting`). */
import { wellKnownRedirects } from "../../net/index.js";
import { eachAlone } from "../../queue/periodic.js";
import { MAX_ADAGENTS_BYTES } from "../../signing/discovery/pin.js";
import { expectedUrl, hostedUrl } from "../model.js";
import type { RegistryData } from "../types.js";
import { fetchDocument } from "./document.js";
import type { Origin } from "./locate.js";
import type { CrawlMetrics } from "./metrics.js";

/** Origins asked in one go, and at once. */
const BATCH = 50;
const AT_ONCE = 5;
/** What was verified counts for this long while the origin does not answer, in milliseconds. */
const GRACE_MS = 86_400_000;

export interface HostedParts {
  readonly data: Pick<RegistryData, "hostedFile" | "hostedDue" | "originChecked">;
  readonly origin: Origin;
  readonly metrics: CrawlMetrics;
  readonly recheckMs: number;
  readonly now: () => number;
}

type Verdict = "verified" | "unverified" | "unknown";

async function ask({ fetch, signal, publicUrl }: Origin, domain: string): Promise<Verdict> {
  const found = await fetchDocument(fetch, expectedUrl(domain), {
    maxBytes: MAX_ADAGENTS_BYTES,
    redirects: wellKnownRedirects,
    signal,
  });
  if (found.ok) return found.value.authoritative_location === hostedUrl(publicUrl, domain) ? "verified" : "unverified";
  switch (found.kind) {
    case "absent":
    case "redirect":
    case "shape":
    case "too_large":
      return "unverified";
    case "timeout":
    case "connection":
    case "status":
    case "answer":
    case "syntax":
    case "aborted":
      return "unknown";
  }
}

/** Makes what is to be done every so often. */
export function hostedChecks({ data, origin, metrics, recheckMs, now }: HostedParts): () => Promise<void> {
  /** Origins that did not answer while their last answer still counts, and when they are asked again. */
  const postponed = new Map<string, number>();

  const check = async (domain: string): Promise<void> => {
    const verdict = await ask(origin, domain);
    metrics.checkedHosted(verdict);
    const at = now();
    const before = verdict === "unknown" ? (await data.hostedFile(domain))?.originVerifiedAt : undefined;
    if (typeof before === "number" && at - before < GRACE_MS) postponed.set(domain, at + recheckMs);
    else await data.originChecked(domain, { verified: verdict === "verified", at });
  };

  return async () => {
    const at = now();
    for (const [domain, until] of postponed) if (until <= at) postponed.delete(domain);
    const due = await data.hostedDue(at - recheckMs, BATCH + postponed.size);
    const waiting = due.filter((domain) => !postponed.has(domain)).slice(0, BATCH);
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
}
