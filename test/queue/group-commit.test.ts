import { test } from "uvu";
import * as assert from "uvu/assert";
import { sql } from "../../runtime/db/postgres/sql.js";
import { GroupCommit } from "../../runtime/queue/group-commit.js";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/postgres/open.js";
import type { Tx } from "../../runtime/store/postgres/tables.js";
import { sharedPostgres } from "../support/postgres.js";

const postgres = await sharedPostgres();
let store: PostgresStore;
let transactions = 0;
let commits: GroupCommit;

test.before.each(async () => {
  store = await openPostgresStore({ url: await postgres.database(), connections: 4 });
  await sql`create table kept (value integer primary key)`.run(store.database);
  transactions = 0;
  commits = new GroupCommit(store.database, (_tx, work) => {
    transactions += 1;
    return work();
  });
});
test.after.each(() => store.close());
test.after(() => postgres.stop());

const keep = (value: number) => async (tx: Tx) => {
  await sql`insert into kept (value) values (${value})`.run(tx);
  return value;
};
const kept = async (): Promise<number[]> =>
  (await sql<{ value: number }>`select value from kept order by value`.rows(store.database)).map((row) => row.value);

const numbers = Array.from({ length: 100 }, (_, at) => at);

test("a burst shares transactions, and each gets its own answer", async () => {
  assert.equal(await Promise.all(numbers.map((value) => commits.run(keep(value)))), numbers);
  assert.equal(await kept(), numbers);
  assert.ok(transactions < 10, `${transactions} transactions`);
});

test("work that throws fails alone, and what it wrote is undone", async () => {
  const results = await Promise.allSettled(
    numbers.map((value) =>
      commits.run(async (tx) => {
        await keep(value)(tx);
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
  const even = async (tx: Tx, values: readonly number[]): Promise<PromiseSettledResult<number>[]> => {
    calls.push([...values]);
    const good = values.filter((value) => value % 2 === 0);
    for (const value of good) await keep(value)(tx);
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
  // The first is under way before there is a second.
  assert.equal(calls, [[0], [1, 2], [4, 5]]);
  assert.equal(await kept(), [0, 2, 4, 99]);
});

test("items that the database refuses together are done one by one", async () => {
  await commits.run(keep(2));
  const each = async (tx: Tx, values: readonly number[]): Promise<PromiseSettledResult<number>[]> => {
    for (const value of values) await keep(value)(tx);
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
  await sql`create table parents (id integer primary key)`.run(store.database);
  await sql`create table children (id integer references parents deferrable initially deferred)`.run(store.database);
  const child = async (tx: Tx) => {
    runs += 1;
    await sql`insert into children (id) values (7)`.run(tx);
  };
  const first = commits.run(keep(1));
  const results = await Promise.allSettled([first, commits.run(child), commits.run(child)]);
  assert.equal(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "rejected"],
  );
  assert.is(runs, 2);
});

test.run();
