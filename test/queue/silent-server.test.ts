/** Changes that share transactions, on a server that says nothing any more. */
import { setTimeout as pause } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Coroutine, openPostgres, type Query, wait } from "../../runtime/db/index.js";
import { type EachWork, lockedElsewhere } from "../../runtime/queue/each.js";
import { GroupCommit } from "../../runtime/queue/postgres/group-commit.js";
import { sharedPostgres } from "../support/postgres.js";
import { startRelay } from "../support/relay.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

const BOUND_MS = 1_500;

const keep = (value: number) =>
  function* (q: Query): Coroutine<number> {
    yield* q.run("insert into kept (value) values (?)", [value]);
    return value;
  };

/** Changes a row that may be another transaction's: left out where it is, as the tasks of a sender are. */
const change: EachWork<number, number> = function* (q, [value], locking) {
  const text = `select value from kept where value = ? for update${locking === "skip" ? " skip locked" : ""}`;
  const [row] = yield* q.rows<{ value: number }>(text, [value!]);
  return [row === undefined ? { status: "rejected", reason: lockedElsewhere } : { status: "fulfilled", value: value! }];
};

test("a server that says nothing is waited for once, by all who have asked by then and cannot wait any longer", async () => {
  const direct = await postgres.database();
  const relay = await startRelay(Number(new URL(direct).port));
  const url = Object.assign(new URL(direct), { port: String(relay.port) }).href;
  const limits = { connectTimeoutMs: BOUND_MS, statementTimeoutMs: BOUND_MS, deadlineSlackMs: BOUND_MS };
  const database = await openPostgres({ url, connections: 8, lockTimeoutMs: BOUND_MS, ...limits });
  await database.query((q) => q.run("create table kept (value integer primary key)"));
  const commits = new GroupCommit(
    (work, lockTimeoutMs) => database.transaction((tx) => work(database.statements(tx)), lockTimeoutMs),
    (work) => database.query((q) => wait(work(q))),
    { sharedMs: 50, longestMs: BOUND_MS },
  );
  await commits.run(keep(1));
  const beside = await openPostgres({ url: direct, connections: 1 });
  const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = beside.transaction(async (tx) => {
    await tx.query("select 1 from kept where value = 1 for update");
    held.resolve();
    await over.promise;
  });
  await held.promise;
  // Two wait for a row, one behind the other, when it freezes.
  const asked = [commits.each(change, 1, "1"), commits.each(change, 1, "1")];
  await pause(200);
  relay.freeze();
  const began = performance.now();
  asked.push(...Array.from({ length: 20 }, (_, at) => commits.run(keep(10 + at), String(at % 4))));
  await pause(100);
  asked.push(...Array.from({ length: 20 }, (_, at) => commits.run(keep(40 + at))));
  const results = await Promise.allSettled(asked);
  assert.ok(performance.now() - began < 5 * BOUND_MS, `it took ${performance.now() - began} ms`);
  for (const result of results) {
    assert.is(result.status, "rejected");
    assert.is((result as PromiseRejectedResult).reason.code, "database_unreachable");
  }
  relay.cut();
  relay.thaw();
  over.resolve();
  await holder;
  assert.is(await commits.each(change, 1, "1"), 1, "it goes on by itself");
  await Promise.all([beside.close(), database.close()]);
  await relay.close();
});

test.run();
