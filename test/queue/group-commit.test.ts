import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Coroutine, openPostgres, type PostgresDatabase, type Query, wait } from "../../runtime/db/index.js";
import { type EachWork, lockedElsewhere, oneOf } from "../../runtime/queue/each.js";
import { GroupCommit } from "../../runtime/queue/postgres/group-commit.js";
import { sharedPostgres } from "../support/postgres.js";

const postgres = await sharedPostgres();
let database: PostgresDatabase;
let transactions = 0;
let commits: GroupCommit;

const BOUND_MS = 1_500;

/** @param lockTimeoutMs far beyond what a test takes, unless the bound is what it is about */
async function begun(lockTimeoutMs = 60_000): Promise<void> {
  database = await openPostgres({ url: await postgres.database(), connections: 8, lockTimeoutMs });
  await database.query((q) => q.run("create table kept (value integer primary key)"));
  transactions = 0;
  commits = new GroupCommit(
    (work, lockTimeoutMs) => {
      transactions += 1;
      return database.transaction((tx) => work(database.statements(tx)), lockTimeoutMs);
    },
    (work) => database.query((q) => wait(work(q))),
    { sharedMs: 50, longestMs: database.lockTimeoutMs },
  );
}

/** The same with the bound that a test is about. */
async function bounded(): Promise<void> {
  await database.close();
  await begun(BOUND_MS);
}

test.before.each(() => begun());
test.after.each(() => database.close());
test.after(() => postgres.stop());

const keep = (value: number) =>
  function* (q: Query): Coroutine<number> {
    yield* q.run("insert into kept (value) values (?)", [value]);
    return value;
  };
const kept = async (): Promise<number[]> =>
  (await database.query((q) => q.rows<{ value: number }>("select value from kept order by value"))).map(
    ({ value }) => value,
  );

const numbers = Array.from({ length: 100 }, (_, at) => at);

test("a burst shares transactions, and each gets its own answer", async () => {
  assert.equal(await Promise.all(numbers.map((value) => commits.run(keep(value)))), numbers);
  assert.equal(await kept(), numbers);
  assert.ok(transactions < 10, `${transactions} transactions`);
});

test("work that throws fails alone, and what it wrote is undone", async () => {
  const results = await Promise.allSettled(
    numbers.map((value) =>
      commits.run(function* (q) {
        yield* keep(value)(q);
        if (value === 50) throw new Error("no");
      }),
    ),
  );
  assert.equal(
    results.flatMap(({ status }, at) => (status === "rejected" ? [at] : [])),
    [50],
  );
  assert.equal(
    await kept(),
    numbers.filter((value) => value !== 50),
  );
});

test("a statement the database refuses fails alone", async () => {
  const results = await Promise.allSettled([1, 2, 2, 3].map((value) => commits.run(keep(value))));
  assert.equal(
    results.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected", "fulfilled"],
  );
  assert.equal(await kept(), [1, 2, 3]);
});

test("items of the same work come together, in the order they were asked for", async () => {
  const calls: number[][] = [];
  const odd = new Error("odd");
  const even: EachWork<number, number> = function* (q, values) {
    calls.push([...values]);
    for (const value of values) if (value % 2 === 0) yield* keep(value)(q);
    return values.map((value) =>
      value % 2 === 0 ? { status: "fulfilled", value: value * 10 } : { status: "rejected", reason: odd },
    );
  };
  const results = await Promise.allSettled([
    ...[0, 1, 2].map((value) => commits.each(even, value)),
    commits.run(keep(99)),
    ...[4, 5].map((value) => commits.each(even, value)),
  ]);
  assert.equal(
    results.map((result) => (result.status === "fulfilled" ? result.value : result.reason)),
    [0, odd, 20, 99, 40, odd],
  );
  // The first waits for those who ask within its turn, and no longer.
  assert.equal(calls, [
    [0, 1, 2],
    [4, 5],
  ]);
  assert.equal(await kept(), [0, 2, 4, 99]);
});

test("items that the database refuses together are done one by one", async () => {
  await commits.run(keep(2));
  const each: EachWork<number, number> = function* (q, values) {
    for (const value of values) yield* keep(value)(q);
    return values.map((value) => ({ status: "fulfilled", value }));
  };
  const results = await Promise.allSettled([0, 1, 2, 3].map((value) => commits.each(each, value)));
  assert.equal(
    results.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected", "fulfilled"],
  );
  assert.equal(await kept(), [0, 1, 2, 3]);
});

test("after a commit that failed nothing runs again: it may have been done", async () => {
  let runs = 0;
  await database.query(function* (q) {
    yield* q.run("create table parents (id integer primary key)");
    yield* q.run("create table children (id integer references parents deferrable initially deferred)");
  });
  const child = function* (q: Query): Coroutine<void> {
    runs += 1;
    yield* q.run("insert into children (id) values (7)");
  };
  const first = await Promise.allSettled([commits.run(keep(1))]);
  const results = [...first, ...(await Promise.allSettled([commits.run(child), commits.run(child)]))];
  assert.equal(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "rejected"],
  );
  assert.is(runs, 2);
});

/** Changes a row that may be another transaction's: left out where it is, as the tasks of a sender are. */
const change: EachWork<number, number> = function* (q, values, locking) {
  const text = `select value from kept where value = any(?::int[]) order by value for update${locking === "skip" ? " skip locked" : ""}`;
  const rows = yield* q.rows<{ value: number }>(text, [[...values]]);
  const mine = new Set(rows.map(({ value }) => value));
  return values.map((value) =>
    mine.has(value) ? { status: "fulfilled", value } : { status: "rejected", reason: lockedElsewhere },
  );
};

/** Somebody else's open transaction, which holds a row until it is ended. */
async function holding(statement: string): Promise<() => Promise<void>> {
  const client = await database.pool.connect();
  await client.query("begin");
  await client.query(statement);
  return async () => {
    await client.query("commit");
    client.release();
  };
}

test("what meets a row of an open transaction waits by itself; all others go on", async () => {
  for (const value of [1, 2, 3]) await commits.run(keep(value));
  const release = await holding("select 1 from kept where value = 2 for update");
  const order: string[] = [];
  const asked = (value: number, name: string) =>
    commits.each(change, value, String(value)).then(() => order.push(name));
  const first = asked(2, "held");
  const second = asked(2, "held, later");
  await Promise.all(Array.from({ length: 50 }, (_, at) => asked(1 + 2 * (at % 2), "free")));
  const third = asked(2, "held, last");
  await asked(3, "free");
  assert.is(order.length, 51);
  assert.ok(order.every((name) => name === "free"));
  await release();
  await Promise.all([first, second, third]);
  assert.equal(order.slice(51), ["held", "held, later", "held, last"]);
});

test("work that has not written yet leaves those it shares a transaction with, and theirs is not undone", async () => {
  for (const value of [1, 2]) await commits.run(keep(value));
  const release = await holding("select 1 from kept where value = 2 for update");
  const runs: number[] = [];
  const order: string[] = [];
  const careful = (value: number) =>
    commits.run(function* (q, locking) {
      runs.push(value);
      return oneOf(yield* change(q, [value], locking));
    }, String(value));
  const held = careful(2).then(() => order.push("held"));
  await Promise.all([careful(1), careful(1)]).then(() => order.push("free"));
  const later = careful(2).then(() => order.push("held, later"));
  // Once each: they share the transaction in which the other found its row held.
  assert.equal(
    runs.filter((value) => value === 1),
    [1, 1],
  );
  order.push("released");
  await release();
  await Promise.all([held, later]);
  assert.equal(order, ["free", "released", "held", "held, later"]);
});

/** Asks for work whose row is free again as soon as it was met, or which throws. */
const asking =
  (order: string[]) =>
  (name: string, key: string, row: "free" | "held" | "throws" = "free"): Promise<unknown> =>
    commits
      .run(function* (q, locking) {
        yield* q.rows("select pg_sleep(0.02)");
        if (row === "held" && locking === "skip") throw lockedElsewhere;
        if (row === "throws") throw new Error("ours");
        order.push(name);
      }, key)
      .catch(() => undefined);

for (const beside of ["free", "throws"] as const)
  test(`what is asked for under a key goes in that order, beside work that is ${beside}`, async () => {
    const order: string[] = [];
    const asked = asking(order);
    const keyed = [asked("1", "a", "held"), asked("2", "a"), asked("", "b", beside), asked("3", "a")];
    await Promise.all(keyed);
    // What was asked for before a line began goes before what is asked for then.
    const last = asked("", "b", beside).then(() => asked("6", "a"));
    const first = asked("4", "a", "held");
    await new Promise((resolve) => setTimeout(resolve, 10));
    await Promise.all([first, asked("5", "a"), last]);
    assert.equal(order.filter((name) => name !== "").join(" "), "1 2 3 4 5 6");
  });

test("rows that stay held do not keep those waiting whose row is free again", async () => {
  const stay = [10, 11, 12, 13, 14];
  for (const value of [1, ...stay]) await commits.run(keep(value));
  const releaseAll = await holding("select 1 from kept where value >= 10 for update");
  const over: number[] = [];
  const asked = (value: number) => commits.each(change, value, String(value)).then(() => over.push(value));
  const held = stay.map(asked);
  const releaseOne = await holding("select 1 from kept where value = 1 for update");
  const one = asked(1);
  await commits.run(keep(20));
  await releaseOne();
  await one;
  assert.equal(over, [1]);
  await releaseAll();
  await Promise.all(held);
  assert.equal(over.toSorted(), [1, ...stay].toSorted());
});

test("nobody waits for a held row for longer than its bound, however many wait before", async () => {
  await bounded();
  await commits.run(keep(1));
  const release = await holding("select 1 from kept where value = 1 for update");
  const asked = () => commits.each(change, 1, "1");
  const began = performance.now();
  const results = await Promise.allSettled(Array.from({ length: 6 }, asked));
  // One after the other they would take six times as long.
  assert.ok(performance.now() - began < 3 * BOUND_MS);
  assert.equal(
    results.map((result) => result.status === "rejected" && (result.reason as { code: string }).code),
    results.map(() => "database_busy"),
  );
  assert.match(
    String((results[5] as PromiseRejectedResult).reason),
    /kept a row for 1500 ms \(.*: nothing was written/,
  );
  await release();
  assert.is(await asked(), 1);
});

test("work that has to wait for any lock leaves the others too, and has a deadline", async () => {
  await bounded();
  const release = await holding("insert into kept values (7)");
  const stuck = commits.run(keep(7)).catch((error: { code: string }) => error.code);
  assert.equal(await Promise.all([1, 2, 3].map((value) => commits.run(keep(value)))), [1, 2, 3]);
  assert.is(await stuck, "database_busy");
  await release();
  assert.equal(await kept(), [1, 2, 3, 7]);
});

test.run();
