/** What storing an event writes on SQLite: each page of it goes to the log, and to the disk before its transaction is through. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createSender } from "../../runtime/sender/index.js";
import { senderTables } from "../../runtime/store/sender-tables.js";
import { openSqliteStore } from "../../runtime/store/sqlite/open.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";
import { push, start } from "./sender-suite.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-pages-"));
const file = path.join(folder, "sender.db");
const DAY_MS = 86_400_000;
const EVENTS = 50;

/** Header of the log and of each page in it, in bytes (SQLite's file format, 4.1). */
const [LOG_HEADER, PAGE_HEADER] = [32, 24];

test("who is told is found without those whose channels are closed", async () => {
  const store = openSqliteStore({ path: path.join(folder, "open.db") });
  for (const principal of [undefined, "p"]) {
    const plans: string[] = [];
    const explaining = {
      rows: (text: string, values: unknown[]) =>
        plans.push(
          ...store.db
            .prepare<unknown[], { detail: string }>(`explain query plan ${text}`)
            .all(...values)
            .map(({ detail }) => detail),
        ),
    };
    senderTables(store.database).subscribers(explaining as never, "agents", "agent", principal);
    assert.match(plans[0]!, "SEARCH adbind_channels USING INDEX adbind_channels_open (<expr>=? AND kind=?");
  }
  await store.close();
});

test("storing an event writes no index of what stays as it is", async () => {
  const clock = { at: NOW };
  const store = openSqliteStore({ path: file });
  const sender = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store });
  const { db } = store;
  const ids = Array.from({ length: EVENTS }, (_, at) => `task-${at}`);
  for (const taskId of ids) await sender.tasks.register(start({ taskId }), { push });
  await sender.tasks.update(ids[0]!, { status: "working" });
  const size = db.pragma("page_size", { simple: true }) as number;
  const names = () =>
    new Map(
      db
        .prepare<[], { pageno: number; name: string }>("select pageno, name from dbstat")
        .all()
        .map((row) => [row.pageno, row.name]),
    );
  /** How often pages of a table or index were written, by its name. */
  const written = (): Map<string, number> => {
    const [log, known, counts] = [readFileSync(`${file}-wal`), names(), new Map<string, number>()];
    for (let at = LOG_HEADER; at < log.length; at += PAGE_HEADER + size) {
      const name = known.get(log.readUInt32BE(at)) ?? "";
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  };
  const expires = () => db.prepare("select expires from adbind_sent_tasks where task_id = ?").pluck().get(ids[1]);
  const before = expires();
  db.pragma("wal_checkpoint(truncate)");
  for (const id of ids.slice(1)) await sender.tasks.update(id, { status: "working" });
  const pages = written();
  assert.is.not(pages.get("adbind_jobs") ?? 0, 0);
  assert.ok(pages.get("adbind_sent_tasks")! >= EVENTS - 1);
  assert.is(pages.get("adbind_sent_tasks_expires") ?? 0, 0);
  assert.is(pages.get("adbind_endpoints_ready") ?? 0, 0);
  // It is kept from its last change on, all the same.
  clock.at += DAY_MS;
  await sender.tasks.update(ids[1]!, { status: "canceled" });
  assert.is(expires(), (before as number) + DAY_MS);
  await sender.stop();
  await store.close();
});

test.after(() => rmSync(folder, { recursive: true, force: true }));
test.run();
