/** Whose file a handle of the application is on: a sender stores only in its own. */
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Sqlite from "better-sqlite3";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createSender } from "../../runtime/sender/index.js";
import { openSqliteStore } from "../../runtime/store/sqlite/open.js";
import { thrownBy } from "../support/thrown.js";
import { FakeNetwork, NOW, optionsFor } from "./fixture.js";
import { push, start } from "./sender-suite.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-joined-"));
test.after(() => rmSync(folder, { recursive: true }));

async function open(name: string) {
  const file = path.join(folder, name);
  const store = openSqliteStore({ path: file });
  const clock = { at: NOW };
  const sender = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), reports: () => deliveries, store });
  const close = async () => {
    await sender.stop();
    await store.close();
  };
  return { file, store, sender, close };
}

const deliveries = { currency: "EUR", media_buy_deliveries: [] };
const working = { status: "working" } as const;

test("a handle on another file is refused, though it has our tables, and nothing is stored there", async () => {
  const [ours, theirs] = [await open("ours.db"), await open("theirs.db")];
  for (const { sender } of [ours, theirs]) await sender.tasks.register(start(), { push });
  const memory = new Sqlite(":memory:");
  memory.exec("create table adbind_jobs (id integer)");
  const elsewhere = new Sqlite(theirs.file);
  for (const [handle, where] of [
    [elsewhere, theirs.file],
    [theirs.store.database.file, theirs.file],
    [memory, "in memory"],
  ] as const) {
    const update = handle.transaction(() => ours.sender.tasks.update("task-1", working, { tx: handle }));
    const refused = await thrownBy(async () => update());
    assert.equal([refused.code, refused.where], ["transaction_invalid", "tx"]);
    assert.match(refused.message, where);
    assert.match(refused.message, ours.file);
    assert.match(refused.remedy ?? "", "open the file that adbind's store is in");
  }
  // It is no worse for the sender whose file it is.
  elsewhere.transaction(() => theirs.sender.tasks.update("task-1", working, { tx: elsewhere }))();
  assert.equal([(await ours.sender.outbox.counts()).waiting, (await theirs.sender.outbox.counts()).waiting], [0, 1]);
  for (const handle of [memory, elsewhere]) handle.close();
  await ours.close();
  await theirs.close();
});

test("a handle that was opened for reading is refused", async () => {
  const { file, sender, close } = await open("reading.db");
  await sender.tasks.register(start(), { push });
  const reading = new Sqlite(file, { readonly: true });
  reading.exec("begin");
  const refused = await thrownBy(async () => sender.tasks.update("task-1", working, { tx: reading }));
  assert.equal([refused.code, refused.where], ["transaction_invalid", "tx"]);
  assert.match(refused.message, "for reading");
  reading.close();
  await close();
});

test("the store's file under another name is the store's file", async () => {
  const { file, sender, close } = await open("named.db");
  await sender.tasks.register(start(), { push });
  const link = path.join(folder, "link.db");
  symlinkSync(file, link);
  const named = [link, path.relative(process.cwd(), file), path.join(folder, ".", "x", "..", "named.db")];
  for (const name of named) {
    const handle = new Sqlite(name);
    handle.transaction(() => sender.tasks.update("task-1", working, { tx: handle }))();
    handle.close();
  }
  assert.is((await sender.outbox.counts()).waiting, named.length);
  await close();
});

test("a handle that reads integers as BigInts makes no difference", async () => {
  const { file, store, sender, close } = await open("bigints.db");
  const own = new Sqlite(file);
  own.defaultSafeIntegers(true);
  const buy = { mediaBuyId: "mb-1", principal: "buyer-1" };
  const reporting = { ...push, reporting_frequency: "daily" } as const;
  const period = { start: NOW - 3_600_000, end: NOW };
  const given = { tx: own };
  const results = own.transaction(() => [
    sender.tasks.register(start(), { push }, given),
    sender.tasks.update("task-1", working, given),
    sender.channels.open(buy, { events: push, reporting }, given),
    sender.channels.adjusted("mb-1", { ...deliveries, period }, given),
    sender.channels.adjusted("mb-1", { ...deliveries, period }, given),
  ])();
  assert.equal(results[2], { ok: true });
  const sequences = store.database.file.prepare("select sequence from adbind_channels where sequence > 0").pluck();
  assert.equal(sequences.all(), [2]);
  assert.is((await sender.outbox.counts()).waiting, 3);
  own.transaction(() => sender.channels.close("mb-1", given))();
  own.close();
  await close();
});

test.run();
