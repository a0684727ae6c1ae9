import { existsSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/split.js";
import { openDatabase } from "../../runtime/db/open.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { shardedBySender } from "../../runtime/store/split/receivers.js";
import { arrival, newEvent } from "../store/cases/events.js";
import { commandFolder, type Ran, runCommand } from "./run-command.js";

const { at, remove } = commandFolder();
test.after(remove);
delete process.env.ADBIND_SPLIT;

const flags = (names: readonly string[]): string[] =>
  names.flatMap((name) => ["--database", `${name}=sqlite:${name}.db`]);
const split = (names: readonly string[], ...argv: string[]): Promise<Ran> =>
  runCommand(register, [...argv, ...flags(names)]);

test("a database is added and removed by the command, which says what moved", async () => {
  assert.is((await split(["a", "b"], "init")).out, "the split has a, b\n");
  const databases = ["a", "b", "c"].map((name) => ({
    name,
    database: () => openDatabase(`sqlite:${at(`${name}.db`)}`),
  }));
  const store = await shardedBySender(databases.slice(0, 2));
  const senders = Array.from({ length: 6 }, (_, i) => `https://seller-${i}.example`);
  for (const sender of senders) await store.inbox.accept(arrival(newEvent({ sender })));
  await store.close();
  const going = senders.filter((sender) => placeAmong(["a", "b", "c"], sender) === "c");
  assert.ok(going.length > 0);

  const added = await split(["a", "b", "c"], "add", "c");
  assert.is(added.code, 0, added.err);
  for (const sender of going) assert.match(added.out, `${sender}: `);
  assert.match(added.out, `${going.length} keyspace`);
  const status = await split(["a", "b", "c"], "status", "--json");
  const { set, databases: known } = JSON.parse(status.out);
  assert.is(set.previous, null);
  assert.is(known[2].keyspaces.here, going.length);

  const removed = await split(["a", "b", "c"], "remove", "c", "--json");
  const lines = removed.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.equal(lines.at(-1), { done: true, moved: going.length });
  assert.equal(
    lines
      .slice(0, -1)
      .map(({ moved }) => moved)
      .sort(),
    going.sort(),
  );
});

test("who only looks makes no database", async () => {
  const ran = await split(["never"], "status");
  assert.is.not(ran.code, 0);
  assert.not(existsSync(at("never.db")));
});

test("what is missing on the command line is said", async () => {
  assert.match((await split([], "status")).err, "ADBIND_SPLIT");
  assert.match((await split(["x", "y"], "move")).err, "no database file");
  assert.match((await runCommand(register, ["status", "--database", "x"])).err, "<name>=<url>");
});

test.run();
