/** What figures are held against, and the backlog they are taken from, at sizes that take a moment. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { inventory } from "../../bench/support/inventory.js";
import { bareLatency, plainImport } from "../../bench/support/registry-floors.js";
import { backlogRows } from "../../bench/support/sender-backlog.js";
import { openQueue } from "../../runtime/queue/index.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { sharedPostgres } from "../support/postgres.js";

const test = suite<{ folder: string }>("bench floors");

test.before.each((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), "adbind-floors-"));
});

test.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

const isRate = (value: number): void => assert.ok(Number.isFinite(value) && value > 0, String(value));

test("the bare server answers, and is gone afterwards", async () => {
  isRate(await bareLatency({ bytes: 50_000, rate: 100, requests: 20 }));
});

test("the plain import stores what the inventory has, on both databases, and leaves nothing behind", async ({
  folder,
}) => {
  const file = path.join(folder, "inventory.ndjson");
  const lines = [...inventory({ agents: 20, publishers: 20, properties: 200 })].map((line) => JSON.stringify(line));
  writeFileSync(file, `${lines.join("\n")}\n`);
  isRate(await plainImport(`sqlite:${path.join(folder, "registry.db")}`, file, 1_000));
  assert.equal(readdirSync(folder), ["inventory.ndjson"]);
  const cluster = await sharedPostgres();
  try {
    const url = await cluster.database();
    isRate(await plainImport(url, file, 1_000));
    // A second would find the table of the first.
    isRate(await plainImport(url, file, 1_000));
  } finally {
    await cluster.stop();
  }
});

test("a backlog is looked at as it grows, up to the size that the figures name", async ({ folder }) => {
  const places: string[] = [];
  const place = async (): Promise<string> => {
    places.push(path.join(folder, `${places.length}.db`));
    return places.at(-1)!;
  };
  const rows = await backlogRows({ name: "sqlite", place }, 50_000);
  for (const { value } of rows.slice(0, 2)) isRate(value);
  const curves = new Map(rows.flatMap((row) => row.curves ?? []).map((curve) => [curve.name, curve]));
  assert.equal([...curves.keys()], ["enqueue-sqlite", "drain-sqlite", "memory-sqlite"]);
  const waiting = (name: string): number[] => curves.get(name)!.lines[0]!.points.map(([at]) => at);
  assert.is(waiting("enqueue-sqlite").length, 18);
  assert.is(waiting("enqueue-sqlite").at(-1), 50_000);
  assert.equal(waiting("drain-sqlite").length, 5);
  assert.is(waiting("drain-sqlite").at(-1), 50_000);
  const store = openSqliteStore({ path: places[0]! });
  const { ready } = await openQueue(store.database, "bench").counts();
  await store.close();
  // The last drain took what it was asked for, and what was under way as it ended: no more has gone.
  assert.ok(ready <= 50_000 && ready > 48_000, `${ready} left`);
});

test.run();
