/** A crawler's queue on real SQLite and real PostgreSQL. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AdbindError } from "../../runtime/errors.js";
import { createCrawler } from "../../runtime/registry/crawl/index.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { createTelemetry } from "../../runtime/registry/server/telemetry.js";
import { openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";
import { sharedPostgres, type TestDatabases } from "../support/postgres.js";
import { until } from "../support/until.js";
import { publicLookup } from "./crawl-fixture.js";
import { crawlMannersCase } from "./crawl-manners.case.js";
import { crawlQueueCase } from "./crawl-queue.case.js";
import { crawlRulesCase } from "./crawl-rules.case.js";
import { crawlUnaskedCase } from "./crawl-unasked.case.js";
import { Origins } from "./crawl-world.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-crawl-"));
let cluster: TestDatabases;
let count = 0;

test.before(async () => {
  cluster = await sharedPostgres();
});
test.after(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

const openSqlite = async () => {
  count += 1;
  return openSqliteStore({ path: path.join(folder, `${count}.db`) });
};

const openPostgres = async () => openPostgresStore({ url: await cluster.database() });

for (const cases of [crawlQueueCase, crawlUnaskedCase, crawlRulesCase, crawlMannersCase]) {
  cases(test, "sqlite", openSqlite);
  cases(test, "postgres", openPostgres);
}

test("options that cannot be used are refused at once", async () => {
  const store = await openSqlite();
  const data = createRegistryData(store);
  for (const bad of [
    { concurrency: 0 },
    { debounceMs: -1 },
    { retryMs: [0.5] },
    { capacity: Number.NaN },
    { publicUrl: "registry.example" },
  ]) {
    try {
      await createCrawler({ store, data, ...bad });
      assert.unreachable(JSON.stringify(bad));
    } catch (error) {
      assert.is((error as AdbindError).code, "registry_option_invalid");
    }
  }
  await store.close();
});

test("what is crawled is counted and logged, and a figure of what waits goes with the crawler", async () => {
  const store = await openSqlite();
  const telemetry = createTelemetry();
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const origins = new Origins();
  origins.answers.set("news.example/adagents.json", 503);
  const options = { store, data: createRegistryData(store), fetch: origins.fetch, lookup: publicLookup, logger };
  const crawler = await createCrawler({ ...options, meter: telemetry.meter });
  const answer = await crawler.request("news.example", { requestedBy: "a", reason: "request" });
  assert.ok(!("refused" in answer));
  assert.match(await telemetry.read(), /registry_crawl_waiting(?:\{\S*\})? 1\n/);
  crawler.start();
  await until(async () => (await crawler.read(answer.crawl_request_id))?.status === "retrying", "the first attempt");
  const text = await telemetry.read();
  for (const figure of [
    /registry_crawls_total\{outcome="unreachable",brand="absent",method="direct"\} 1/,
    /registry_crawl_failures_total\{last="false"\} 1/,
    /registry_crawl_requests_total\{reason="request"\} 1/,
    /registry_crawl_duration\S*_count\S* 1\n/,
  ])
    assert.match(text, figure);
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.equal(
    logged.map(({ domain, outcome, why }) => [domain, outcome, why]),
    [["news.example", "unreachable", "the origin answered with status 503"]],
  );
  await crawler.stop();
  await store.close();
  // Whoever reads the figures later does not ask a store that is closed.
  assert.match(await telemetry.read(), /registry_crawls_total/);
  await telemetry.stop();
});

test.run();
