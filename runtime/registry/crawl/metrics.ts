/** What a crawler counts, through OpenTelemetry's API: free where no SDK is registered. Domains are no labels. */
import { type Meter, metrics, type ObservableResult } from "@opentelemetry/api";
import type { CrawlResult } from "../types.js";
import type { CrawlRefusal } from "./types.js";

export interface CrawlMetrics {
  crawled(result: CrawlResult, elapsedMs: number): void;
  /** An attempt after which another follows, or none does. */
  failed(last: boolean): void;
  requested(reason: "auto" | "request" | "scheduled"): void;
  refused(why: CrawlRefusal["refused"]): void;
  checkedHosted(outcome: "verified" | "unverified" | "unknown"): void;
  /** Reports how many requests wait or run, whenever somebody reads. @returns stops it */
  watch(count: () => Promise<number>): () => void;
}

export function crawlMetrics(meter: Meter = metrics.getMeter("adbind.registry")): CrawlMetrics {
  const crawls = meter.createCounter("registry.crawls", { description: "domains fetched, by what came of each file" });
  const duration = meter.createHistogram("registry.crawl.duration", {
    description: "time to fetch a domain",
    unit: "s",
  });
  const bytes = meter.createCounter("registry.crawl.bytes", { description: "size of files read", unit: "By" });
  const failures = meter.createCounter("registry.crawl.failures", {
    description: "attempts that are made again, or no more",
  });
  const requests = meter.createCounter("registry.crawl.requests", { description: "crawls queued, by who asked" });
  const refusals = meter.createCounter("registry.crawl.refusals", { description: "crawls not queued, by reason" });
  const hosted = meter.createCounter("registry.crawl.hosted_checks", { description: "origins of hosted files asked" });
  const waiting = meter.createObservableGauge("registry.crawl.waiting", { description: "crawls that wait or run" });
  return {
    watch(count) {
      const read = async (result: ObservableResult): Promise<void> => {
        // A database that is away leaves the figure out, and the others in.
        const known = await count().catch(() => undefined);
        if (known !== undefined) result.observe(known);
      };
      waiting.addCallback(read);
      return () => waiting.removeCallback(read);
    },
    crawled({ adagents, brand }, elapsedMs) {
      crawls.add(1, { outcome: adagents.outcome, brand: brand.outcome, method: adagents.method });
      duration.record(elapsedMs / 1000);
      bytes.add(adagents.bytes ?? 0);
    },
    failed: (last) => failures.add(1, { last }),
    requested: (reason) => requests.add(1, { reason }),
    refused: (why) => refusals.add(1, { why }),
    checkedHosted: (outcome) => hosted.add(1, { outcome }),
  };
}
