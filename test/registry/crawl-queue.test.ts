/** A crawler's queue on real SQLite and real PostgreSQL. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AdbindError } from "../../runtime/errors.js";
import { createCrawler } from "../../runtime/registry/crawl/index.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { openPostgresStore, openSqliteStore } from "../../runtime/store/index.js";
import { startPostgres, type TestPostgres } from "../support/postgres.js";
import { crawlQueueCase } from "./crawl-queue.case.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-crawl-"));
let cluster: TestPostgres;
let count = 0;

test.before(async () => {
  cluster = await startPostgres({ fsync: "off" });
});
test.after(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

const openSqlite = async () => {
  count += 1;
  return openSqliteStore({ path: path.join(folder, `${count}.db`) });
};

crawlQueueCase(test, "sqlite", openSqlite);
crawlQueueCase(test, "postgres", async () => openPostgresStore({ url: await cluster.database() }));

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

test.run();
