/** Crawlers on either database, with origins in memory and a clock that tests move. */

import type { uvu } from "uvu";
import * as assert from "uvu/assert";
import type { Fetcher, FetchResult } from "../../runtime/net/index.js";
import { type Crawler, type CrawlerOptions, createCrawler } from "../../runtime/registry/crawl/index.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import type { PostgresStore, SqliteStore } from "../../runtime/store/index.js";
import { until } from "../support/until.js";
import { NOW, publicLookup } from "./crawl-fixture.js";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** Origins in memory: what a path answers. Anything else is 404. */
export class Origins {
  readonly answers = new Map<string, number | object | string | (() => Promise<FetchResult>)>();
  readonly asked: string[] = [];

  readonly fetch: Fetcher = async (url, request = {}) => {
    const { hostname, pathname } = new URL(url);
    const key = `${hostname}${pathname.replace("/.well-known", "")}`;
    this.asked.push(key);
    const answer = this.answers.get(key) ?? 404;
    if (typeof answer === "function") return Promise.race([answer(), aborted(request.signal)]);
    const status = typeof answer === "number" ? answer : 200;
    const body = Buffer.from(typeof answer === "string" ? answer : JSON.stringify(answer));
    return { ok: true, status, headers: {}, body, truncated: false, url };
  };

  times(key: string): number {
    return this.asked.filter((one) => one === key).length;
  }
}

/** At once where it was aborted before: who has been stopped may still ask for the next file. */
const aborted = (signal: AbortSignal | undefined): Promise<FetchResult> =>
  new Promise((resolve) => {
    const end = (): void => resolve({ ok: false, code: "aborted", retryable: true, detail: "" });
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end);
  });

export type Test = uvu.Test<Record<string, unknown>>;

export interface World {
  readonly store: SqliteStore | PostgresStore;
  readonly data: ReturnType<typeof createRegistryData>;
  readonly origins: Origins;
  readonly clock: { at: number };
  crawler(more?: Partial<CrawlerOptions>): Promise<Crawler>;
  ended(crawler: Crawler, id: string): Promise<Awaited<ReturnType<Crawler["read"]>>>;
}

type Answer = Awaited<ReturnType<Crawler["request"]>>;

export function queued(answer: Answer): Exclude<Answer, { refused: unknown }> {
  assert.ok(!("refused" in answer), JSON.stringify(answer));
  return answer;
}

export const refusedOf = (answer: Answer): string | undefined => ("refused" in answer ? answer.refused : undefined);
export const by = (requestedBy: string) => ({ requestedBy, reason: "request" });

/** @param open an opened store on an empty database */
export function crawlCases(
  test: Test,
  name: string,
  open: () => Promise<SqliteStore | PostgresStore>,
  cases: readonly (readonly [what: string, run: (world: World) => Promise<void>])[],
): void {
  for (const [what, run] of cases) {
    test(`${name}: ${what}`, async () => {
      const store = await open();
      const crawlers: Crawler[] = [];
      const clock = { at: NOW };
      const now = () => clock.at;
      const origins = new Origins();
      const data = createRegistryData(store, { now, publicUrl: "https://registry.example" });
      const crawler = async (more: Partial<CrawlerOptions> = {}) => {
        const given = { store, data, now, fetch: origins.fetch, lookup: publicLookup, random: () => 0.5 };
        const made = await createCrawler({ ...given, publicUrl: "https://registry.example", ...more });
        crawlers.push(made);
        return made;
      };
      const ended: World["ended"] = async (one, id) => {
        await until(async () => (await one.read(id))?.completed_at !== null, `${id} ends`);
        return one.read(id);
      };
      try {
        await run({ store, data, origins, clock, crawler, ended });
      } finally {
        await Promise.all(crawlers.map((one) => one.stop()));
        await store.close();
      }
    });
  }
}
