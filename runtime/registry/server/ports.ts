/** What the server asks of whatever crawls. */
import type { components } from "../../../generated/registry/openapi.js";

export type CrawlRequestRecord = components["schemas"]["CrawlRequest"];

export interface CrawlRefusal {
  readonly refused: "debounced" | "queue_full" | "unsafe" | "limited";
  readonly retryAfterSeconds: number;
}

/** Durable, and debounced per domain across instances. */
export interface CrawlPort {
  request(domain: string, asked: { requestedBy: string; reason: string }): Promise<CrawlRequestRecord | CrawlRefusal>;
  read(id: string): Promise<CrawlRequestRecord | undefined>;
  /** Starts a crawl unless the domain was crawled just now; answers whether it did. */
  autoCrawl(domain: string): Promise<boolean>;
  /** Does one wait or run? */
  pending(domain: string): Promise<boolean>;
  start(): void | Promise<void>;
  /** Lets what runs come to an end. */
  stop(): Promise<void>;
}
