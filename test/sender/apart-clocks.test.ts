/** Deliverers on one PostgreSQL whose machines' clocks are an hour apart. */
import type pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { databaseTime } from "../../runtime/db/database-time.js";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { createSender, type Sender } from "../../runtime/sender/index.js";
import { sharedPostgres } from "../support/postgres.js";
import { fromServer, timesAreServers } from "../support/server-times.js";
import { turns, until } from "../support/until.js";
import { FakeNetwork, optionsFor, verify } from "./fixture.js";
import { drained, HOUR, push, start } from "./sender-suite.js";

const postgres = await sharedPostgres();
const { now: system } = Date;
let database: PostgresDatabase;
let sender: Sender;
let network: FakeNetwork;

/** A sender of a process whose clock is off, as every part of it sees that. @param ms by how much */
async function openOff(ms: number): Promise<Sender> {
  Date.now = () => system() + ms;
  const { now: _, ...options } = optionsFor({ at: 0 }, network);
  return createSender({ ...options, store: { database }, worker: { pollMs: 10, failuresToPause: 2 } });
}

test.before.each(async () => {
  database = await openPostgres({ url: await postgres.database(), connections: 5 });
  network = new FakeNetwork({ at: 0 });
});
test.after.each(async () => {
  await sender.stop();
  Date.now = system;
  await database.close();
});
test.after(() => postgres.stop());

const rows = async (text: string) =>
  (await database.transaction((tx: pg.ClientBase) => tx.query<{ ms: number }>(text))).rows;

for (const ms of [HOUR, -HOUR])
  test(`a deliverer whose clock is ${ms > 0 ? "ahead" : "behind"} leaves no pause and no retry that is an hour off`, async () => {
    sender = await openOff(ms);
    network.react = () => 503;
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "working" });
    sender.start();
    await until(async () => (await sender.outbox.list())[0]!.attempts >= 2);
    await until(async () => (await fromServer(rows, "select failing_since from adbind_endpoints")).length > 0);
    await timesAreServers(rows, HOUR);
    // Who verifies a signature goes by no database.
    for (const sent of network.sent)
      assert.equal((await verify({ ...sent, at: Date.now() })).ok, true, sent.headers["signature-input"]);
  });

test("what others add is delivered at once by one whose clock is an hour behind", async () => {
  const other = await openOff(0);
  await other.tasks.register(start(), { push });
  sender = await openOff(-HOUR);
  await other.tasks.update("task-1", { status: "working" });
  sender.start();
  await until(() => drained(sender));
  assert.is(network.sent.length, 1);
  await other.stop();
});

test("the server's time goes on while the server is away, and is asked for again", async () => {
  let away = false;
  let off = 0;
  const asked: string[] = [];
  const query = async (work: Parameters<PostgresDatabase["query"]>[0]): Promise<unknown> => {
    asked.push("look");
    if (away) throw new Error("away");
    return ((await database.query(work)) as { at: number }[]).map(({ at }) => ({ at: at + off }));
  };
  const now = await databaseTime({ dialect: database.dialect, query: query as PostgresDatabase["query"] });
  const { performance: own } = globalThis;
  const { now: process } = own;
  try {
    let passed = 0;
    own.now = () => process.call(own) + passed;
    const before = now();
    [passed, away] = [HOUR, true];
    assert.ok(Math.abs(now() - before - HOUR) < 1_000);
    [passed, away, off] = [HOUR + 20_000, false, 5_000];
    now();
    await until(() => Math.abs(now() - before - 5_000) < 2_000);
    assert.is(asked.length, 3);
  } finally {
    own.now = process;
    sender = await openOff(0);
  }
});

test("the server's time is asked for at once when the machine was suspended", async () => {
  let asked = 0;
  let off = 0;
  const query = async (work: Parameters<PostgresDatabase["query"]>[0]): Promise<unknown> => {
    asked += 1;
    return ((await database.query(work)) as { at: number }[]).map(({ at }) => ({ at: at + off }));
  };
  const now = await databaseTime({ dialect: database.dialect, query: query as PostgresDatabase["query"] });
  try {
    const before = now();
    assert.is(asked, 1);
    // An hour in which the process's own time stood still.
    off = HOUR;
    Date.now = () => system() + HOUR;
    now();
    assert.is(asked, 2);
    now();
    assert.is(asked, 2, "and once is enough");
    await until(() => now() - before > HOUR / 2);
  } finally {
    Date.now = system;
    sender = await openOff(0);
  }
});

test("a look at the server's time that fails, as behind a suspension, is had again within a second", async () => {
  let [asked, away, ahead] = [0, false, 0];
  const query = async (work: Parameters<PostgresDatabase["query"]>[0]): Promise<unknown> => {
    asked += 1;
    if (away) throw new Error("Connection terminated unexpectedly");
    return database.query(work);
  };
  const own = performance.now.bind(performance);
  const now = await databaseTime({ dialect: database.dialect, query: query as PostgresDatabase["query"] });
  try {
    performance.now = () => own() + ahead;
    away = true;
    Date.now = () => system() + HOUR;
    now();
    assert.is(asked, 2);
    await turns();
    now();
    assert.is(asked, 2, "not at once");
    ahead = 1_500;
    away = false;
    now();
    assert.is(asked, 3);
    await turns();
    now();
    assert.is(asked, 3);
  } finally {
    performance.now = own;
    Date.now = system;
  }
});

test("an answer that is long in coming moves no clock", async () => {
  let slow = false;
  let looks = 0;
  let passed = 0;
  const query = async (work: Parameters<PostgresDatabase["query"]>[0]): Promise<unknown> => {
    const found = (await database.query(work)) as { at: number }[];
    // The server said what time it was, and the answer lay for long.
    if (slow) await new Promise((later) => setTimeout(later, 600));
    looks += 1;
    return found.map(({ at }) => ({ at: at + passed }));
  };
  const now = await databaseTime({ dialect: database.dialect, query: query as PostgresDatabase["query"] });
  const { performance: own } = globalThis;
  const { now: process } = own;
  try {
    const before = now() - process.call(own);
    own.now = () => process.call(own) + passed;
    [passed, slow] = [20_000, true];
    now();
    await until(() => looks === 2);
    await new Promise((later) => setImmediate(later));
    assert.ok(Math.abs(now() - own.now() - before) < 50, "a look that cannot tell says nothing");
  } finally {
    own.now = process;
    sender = await openOff(0);
  }
});

test.run();
