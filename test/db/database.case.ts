/** What every engine must do: one body, run against each. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Coroutine, runAsync } from "../../runtime/db/coroutine.js";
import type { Columns, Database, Query } from "../../runtime/db/types.js";

export interface DatabaseCase<Tx> {
  readonly name: string;
  /** Another handle on the same, fresh database as long as `reset` is not called. */
  open(): Promise<Database<Tx>>;
  reset(): Promise<void>;
  /** Runs work in a transaction of the application's own; undone when it throws. */
  transact(database: Database<Tx>, work: (tx: Tx) => void | Promise<void>): Promise<void>;
  /** Notifications reach other handles too. */
  readonly hearsOthers: boolean;
}

interface Context {
  database: Database<unknown>;
}

const columns: Columns = [
  ["id", "bigint"],
  ["name", "text"],
  ["score", "double precision"],
];

function* make(q: Query): Coroutine<void> {
  yield* q.run(
    "create table things (id bigint primary key, name text, score double precision)".replace("bigint", "integer"),
  );
}

const rowsOf = (database: Database, order = "id"): Promise<{ id: number; name: string | null; score: number }[]> =>
  database.query((q) => q.rows(`select * from things order by ${order}`));

interface Case {
  readonly database: Database<unknown>;
  readonly given: DatabaseCase<unknown>;
  open(): Promise<Database<unknown>>;
}

const cases: Readonly<Record<string, (on: Case) => Promise<void>>> = {
  "many rows go in and out by list, and by whole keys": async ({ database }) => {
    const rows = Array.from({ length: 1_000 }, (_, id) => [id, id % 3 === 0 ? null : `n'${id}\u00e9`, id / 4]);
    await database.write((q) => q.insert("things", columns, rows));
    const found = await database.query((q) =>
      q.rows<{ id: number; score: number }>(
        `select id, score from things where ${q.dialect.among("id", "bigint")} order by id`,
        [q.dialect.list([3, 5, 999, 5_000])],
      ),
    );
    assert.equal(found, [
      { id: 3, score: 0.75 },
      { id: 5, score: 1.25 },
      { id: 999, score: 249.75 },
    ]);
    const key = columns.slice(0, 1);
    await database.write((q) => q.remove("things", key, rows.slice(1)));
    assert.equal(await rowsOf(database), [{ id: 0, name: null, score: 0 }]);
    const conflict = "on conflict (id) do update set name = excluded.name";
    await database.write((q) => q.insert("things", columns, [[0, "again", 1]], conflict));
    assert.equal(await rowsOf(database), [{ id: 0, name: "again", score: 0 }]);
  },

  "statements say how many rows they changed, and what they return": async ({ database }) => {
    await database.write(function* (q): Coroutine<void> {
      yield* q.insert("things", columns, [
        [1, "a", 1],
        [2, "b", 2],
      ]);
      assert.is(yield* q.run("update things set score = ? where id > ?", [7, 0]), 2);
      assert.is(yield* q.run("update things set score = ? where id > ?", [7, 99]), 0);
      assert.equal(yield* q.rows("delete from things where id = ? returning id, name", [1]), [{ id: 1, name: "a" }]);
    });
  },

  "a statement by itself commits by itself": async ({ database }) => {
    const added = await database.execute<{ id: number }>("insert into things (id) values (?) returning id", [4]);
    assert.equal(added, [{ id: 4 }]);
    assert.equal(await database.execute("update things set score = 1"), []);
    const again = database.execute("insert into things (id) values (?)", [4]);
    assert.is((await Promise.allSettled([again]))[0]!.status, "rejected");
    assert.equal(await rowsOf(database), [{ id: 4, name: null, score: 1 }]);
  },

  "a transaction that throws leaves nothing, and those beside it stay": async ({ database }) => {
    const put = (id: number, fails: boolean) =>
      database.write(function* (q): Coroutine<void> {
        yield* q.run("insert into things (id) values (?)", [id]);
        if (fails) throw new Error(`no ${id}`);
      });
    const results = await Promise.allSettled([put(1, false), put(2, true), put(3, false)]);
    assert.equal(
      results.map((result) => (result.status === "fulfilled" ? "kept" : (result.reason as Error).message)),
      ["kept", "no 2", "kept"],
    );
    assert.equal(
      (await rowsOf(database)).map(({ id }) => id),
      [1, 3],
    );
  },

  "a read sees one state, whatever is committed meanwhile": async ({ database, given, open }) => {
    const other = await open();
    const count = "select count(*) as n from things";
    const seen = await database.read(function* (q): Coroutine<number[]> {
      const counts = [(yield* q.rows<{ n: number }>(count))[0]!.n];
      // On SQLite a read ends within the turn in which it began, so that nothing can come between.
      if (given.hearsOthers) yield other.write((w) => w.run("insert into things (id) values (1)"));
      counts.push((yield* q.rows<{ n: number }>(count))[0]!.n);
      return counts;
    });
    assert.equal(seen, [0, 0]);
    await other.close();
  },

  "rows come one by one, and what takes them may end it": async ({ database }) => {
    await database.write((q) =>
      q.insert(
        "things",
        columns,
        Array.from({ length: 50 }, (_, id) => [id, "x", 0]),
      ),
    );
    const seen: number[] = [];
    const text = "select id from things where id >= ? order by id";
    await database.query((q) => q.each<{ id: number }>(text, [40], ({ id }) => void seen.push(id)));
    assert.equal(seen, [40, 41, 42, 43, 44, 45, 46, 47, 48, 49]);
    const failing = database.query((q) =>
      q.each(text, [0], () => {
        throw new Error("enough");
      }),
    );
    assert.is(await failing.catch((error: Error) => error.message), "enough");
    assert.is((await rowsOf(database)).length, 50);
  },

  "a transaction of the application's own has our rows or not, as its own": async ({ database, given }) => {
    const put = (tx: unknown, id: number) =>
      database.within(tx, (q) => q.run("insert into things (id) values (?)", [id]));
    await given.transact(database, async (tx) => void (await put(tx, 1)));
    const failed = given.transact(database, (tx) => {
      const work = put(tx, 2);
      const fail = (): never => {
        throw new Error("undone");
      };
      return work instanceof Promise ? work.then(fail) : fail();
    });
    assert.is(await failed.catch((error: Error) => error.message), "undone");
    assert.equal(
      (await rowsOf(database)).map(({ id }) => id),
      [1],
    );
  },

  "a lock under a name is held to the end of the transaction": async ({ database, open }) => {
    const other = await open();
    const order: string[] = [];
    const turn = (of: Database, name: string) =>
      of.write(function* (q): Coroutine<void> {
        yield* q.lock("the turn");
        order.push(`${name} in`);
        yield* q.rows("select id from things");
        yield* q.rows("select id from things");
        order.push(`${name} out`);
      });
    await Promise.all([turn(database, "a"), turn(other, "b"), turn(database, "c")]);
    for (let at = 0; at < order.length; at += 2)
      assert.is(order[at]!.replace(" in", ""), order[at + 1]!.replace(" out", ""));
    await other.close();
  },

  "a name that is shared is had by many, and waited for by who takes it for itself": async ({ database, open }) => {
    const other = await open();
    const order: string[] = [];
    const shared = (of: Database, name: string) =>
      of.write(function* (q): Coroutine<void> {
        yield* q.share("the name");
        yield* q.rows("select id from things");
        order.push(name);
      });
    const alone = other.write(function* (q): Coroutine<void> {
      yield* q.lock("the name");
      order.push("in");
      yield* q.rows("select id from things");
      yield* q.rows("select id from things");
      order.push("out");
    });
    await Promise.all([shared(database, "a"), alone, shared(database, "b")]);
    assert.is(order.indexOf("out"), order.indexOf("in") + 1);
    assert.is(order.length, 4);
    await other.close();
  },

  "who listens hears of what is committed": async ({ database, given }) => {
    const heard: (string | undefined)[] = [];
    let wake = (): void => undefined;
    const next = (): Promise<void> => new Promise((resolve) => (wake = resolve));
    const listening = given.hearsOthers ? next() : Promise.resolve();
    const stop = database.onNotify("things", (payload) => {
      heard.push(payload);
      wake();
    });
    // Where there is a connection to be made, it is told once that something may have been missed.
    await listening;
    const first = next();
    await database.write((q) => q.notify("things", "one"));
    await first;
    assert.is(heard.at(-1), "one");
    stop();
    await database.write((q) => q.notify("things", "two"));
    await database.write((q) => q.run("insert into things (id) values (9)"));
    assert.not(heard.includes("two"));
  },

  "an empty insert and an empty list are nothing": async ({ database }) => {
    await database.write((q) => q.insert("things", columns, []));
    await database.write((q) => q.remove("things", columns, []));
    const none = await database.query((q) =>
      q.rows(`select id from things where ${q.dialect.among("name", "text")}`, [q.dialect.list([])]),
    );
    assert.equal(none, []);
    await database.write((q) => q.analyze(["things"]));
    assert.equal(await runAsync(database.statements({}).analyze([])).catch(() => undefined), undefined);
  },
};

export function databaseCase<Tx>(given: DatabaseCase<Tx>): void {
  const test = suite<Context>(given.name);
  const open = given.open as () => Promise<Database<unknown>>;
  test.before.each(async (context) => {
    await given.reset();
    context.database = await open();
    await context.database.write(make);
  });
  test.after.each(async (context) => context.database.close());
  for (const [title, holds] of Object.entries(cases))
    test(title, ({ database }) => holds({ database, given: given as DatabaseCase<unknown>, open }));
  test.run();
}
