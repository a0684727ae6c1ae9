import { connect, createServer } from "node:net";
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Coroutine, wait } from "../../runtime/db/coroutine.js";
import {
  openPostgres,
  type PostgresDatabase,
  type PostgresOptions,
  type PostgresTx,
} from "../../runtime/db/postgres/open.js";
import type { Query } from "../../runtime/db/types.js";
import { AdbindError } from "../../runtime/errors.js";
import { startPostgres } from "../support/postgres.js";
import { databaseCase } from "./database.case.js";

const postgres = await startPostgres();
let url = await postgres.database();
const open = (more: Partial<PostgresOptions> = {}) => openPostgres({ url, connections: 4, ...more });

const transact = async (database: PostgresDatabase, work: (tx: PostgresTx) => unknown): Promise<void> => {
  const client = await database.pool.connect();
  try {
    await client.query("begin");
    await work(client);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
};

databaseCase<PostgresTx>({
  name: "postgres",
  open: async () => open(),
  reset: async () => {
    url = await postgres.database();
  },
  transact: (database, work) => transact(database as PostgresDatabase, work),
  hearsOthers: true,
});

const faultOf = async (options: PostgresOptions): Promise<AdbindError> => {
  try {
    await (await openPostgres(options)).close();
  } catch (error) {
    assert.instance(error, AdbindError);
    return error as AdbindError;
  }
  throw new Error("it opened");
};

test("what cannot be reached says why and what to do, and no password", async () => {
  const other = (change: (to: URL) => void): string => {
    const changed = new URL(url);
    changed.password = "hunter2";
    change(changed);
    return changed.href;
  };
  const cases: [url: string, code: string, says: RegExp][] = [
    [other((to) => (to.port = "1")), "database_unreachable", /nothing listens there \(127\.0\.0\.1:1\/\w+\): start it/],
    [other(() => undefined), "database_unreachable", /password was refused .*check the user and the password/],
    [other((to) => (to.hostname = "no.such.host.invalid")), "database_unreachable", /host/],
    [url.replace(/test_\w+/, "nowhere"), "database_unreachable", /no such database .*nowhere.*create it/],
    [url.replace(":adbind@", "@"), "database_unreachable", /password was refused/],
  ];
  for (const [given, code, says] of cases) {
    const fault = await faultOf({ url: given, connectTimeoutMs: 3_000 });
    assert.is(fault.code, code, fault.message);
    assert.match(fault.message, says);
    assert.not.match(fault.message, "hunter2");
  }
});

test("timeouts hold on every connection, and the URL's own options win", async () => {
  const shown = async (database: PostgresDatabase, name: string): Promise<string> =>
    (await database.ask("select current_setting($1) as shown", [name])).rows[0].shown;
  const database = await open();
  assert.is(await shown(database, "statement_timeout"), "30s");
  assert.is(await shown(database, "lock_timeout"), "10s");
  assert.is(await shown(database, "idle_in_transaction_session_timeout"), "1min");
  assert.not(database.pooled);
  await database.close();
  const own = await openPostgres({ url: `${url}&options=-c%20lock_timeout%3D7s`, statementTimeoutMs: 5_000 });
  assert.is(await shown(own, "statement_timeout"), "5s");
  assert.is(await shown(own, "lock_timeout"), "7s");
  await own.close();
});

test("an answer that never comes ends its connection, and the next one is answered", async () => {
  // Lets everything through until it is told to swallow: as a network that is cut without a word.
  let swallow = false;
  const { port } = new URL(url);
  const server = createServer((socket) => {
    const upstream = connect(Number(port), "127.0.0.1");
    socket.on("data", (bytes) => void (swallow || upstream.write(bytes)));
    upstream.on("data", (bytes) => void (swallow || socket.write(bytes)));
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const)
      one.on("close", () => other.destroy()).on("error", () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const through = new URL(url);
  through.port = String((server.address() as { port: number }).port);
  try {
    // Long enough for whatever is answered on a busy machine.
    const limits = { statementTimeoutMs: 1_000, deadlineSlackMs: 1_000 };
    const database = await openPostgres({ url: through.href, connections: 1, ...limits });
    swallow = true;
    const lost = await database.execute("select 1").catch((error: Error) => error);
    assert.match(String(lost), /did not answer a statement in time, .+:\d+\//s);
    swallow = false;
    assert.equal(await database.query((q) => q.rows("select 1 as one")), [{ one: 1 }]);
    await database.close();
  } finally {
    server.close();
  }
});

test("a migration may take longer than a statement", async () => {
  const place = await postgres.database();
  const slow = [{ version: 1, name: "slow", about: "", compatibleFrom: 1, sql: "select pg_sleep(2.5);" }];
  const database = await openPostgres({ url: place, schema: slow, statementTimeoutMs: 2_000, deadlineSlackMs: 100 });
  assert.equal((await database.status()).missing, []);
  await database.close();
});

test("a row that somebody keeps is an error of that call, which says so", async () => {
  const database = await open({ lockTimeoutMs: 100, statementTimeoutMs: 3_000 });
  await database.ask("create table kept (id integer)", []);
  await database.ask("insert into kept values (1)", []);
  const change = () => database.write((q) => q.run("update kept set id = id"));
  await transact(database, async (holder) => {
    await holder.query("update kept set id = id");
    const fault = await change().catch((error: unknown) => error);
    assert.instance(fault, AdbindError);
    assert.is((fault as AdbindError).code, "database_busy");
    assert.match((fault as AdbindError).message, /kept a row for 100 ms/);
  });
  assert.is(await change(), 1);
  const slow = await database.query((q) => q.rows("select pg_sleep(5)")).catch((error: Error) => error.message);
  assert.match(String(slow), /statement timeout/);
  assert.is(await change(), 1);
  await database.close();
});

test("a transaction in which a statement failed is not taken for committed", async () => {
  const database = await open();
  await database.ask("create table once (id integer primary key)", []);
  const careless = database.write(function* (q): Coroutine<void> {
    yield* q.run("insert into once values (1)");
    try {
      yield* q.run("insert into once values (1)");
    } catch {
      // As code does that forgets that PostgreSQL undoes the whole transaction.
    }
  });
  assert.match(await careless.then(String, (error: Error) => error.message), /undone/);
  assert.equal((await database.ask("select * from once", [])).rows, []);
  await database.close();
});

test("a connection that breaks is replaced, within a transaction and without", async () => {
  const database = await open({ connections: 2 });
  const broken = database.write(function* (q): Coroutine<void> {
    yield* q.rows("select pg_terminate_backend(pg_backend_pid())");
  });
  assert.ok(
    (await broken.then(
      () => undefined,
      (error: Error) => error,
    )) instanceof Error,
  );
  const heard: string[] = [];
  let wake = (): void => undefined;
  const next = (): Promise<void> => new Promise((resolve) => (wake = resolve));
  const first = next();
  const stop = database.onNotify("room", (payload = "missed") => {
    heard.push(payload);
    wake();
  });
  await first;
  const missed = next();
  await postgres.restart();
  await missed;
  const told = next();
  await database.write((q) => q.notify("room", "again"));
  await told;
  assert.equal(heard, ["missed", "missed", "again"]);
  stop();
  await database.close();
});

test("a pooler that shows itself only by statements that are gone is none the worse", async () => {
  const database = await open({ connections: 1 });
  const read = async (): Promise<number[]> => {
    const seen: number[] = [];
    await database.query((q) =>
      q.each<{ n: number }>("select n from generate_series(1, ?::int) n", [3], ({ n }) => void seen.push(n)),
    );
    return seen;
  };
  assert.equal(await read(), [1, 2, 3]);
  assert.equal((await database.ask("select count(*)::int as n from pg_prepared_statements", [])).rows, [{ n: 1 }]);
  await database.ask("deallocate all", []);
  assert.equal(await read(), [1, 2, 3]);
  assert.equal(await read(), [1, 2, 3]);
  await database.close();
});

/** 64-bit integers as drivers read them, and no word of what a column is. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  texts: String,
  numbers: Number,
  bigints: BigInt,
};

for (const [name, read] of Object.entries(readers))
  test(`another library's transaction is as good as ours, its integers ${name}`, async () => {
    const database = await open();
    const client = new pg.Client({
      connectionString: url,
      types: { getTypeParser: (oid, format) => (oid === 20 ? read : pg.types.getTypeParser(oid, format as "text")) },
    });
    await client.connect();
    await client.query("create temporary table numbers (id bigint, name text, sure boolean)");
    function* work(q: Query): Coroutine<unknown[]> {
      yield* q.insert(
        "numbers",
        [
          ["id", "bigint"],
          ["name", "text"],
        ],
        [
          [2 ** 40, "a;b"],
          [7, null],
        ],
      );
      const changed = yield* q.run("update numbers set sure = ? where id > ?", ["true", 100]);
      const added = yield* q.rows("insert into numbers (id) values (?) returning id", [8]);
      const rows = yield* q.rows(`select id, name, sure from numbers order by id desc${q.dialect.forUpdate}`);
      yield* wait(q.lock("x").next().value);
      return [changed, added, rows];
    }
    const expected = [
      1,
      [{ id: 8 }],
      [
        { id: 2 ** 40, name: "a;b", sure: true },
        { id: 8, name: null, sure: null },
        { id: 7, name: null, sure: null },
      ],
    ];
    await client.query("begin");
    assert.equal(await database.within(client, work), expected);
    await client.query("rollback");
    await client.query("begin");
    const executor = {
      query: async (text: string, values: unknown[]) => ({ rows: (await client.query(text, values)).rows }),
    };
    assert.equal(await database.withinOther(executor, work), expected);
    await client.query("rollback");
    assert.equal((await client.query("select * from numbers")).rows, []);
    await client.end();
    await database.close();
  });

test.after(() => postgres.stop());
test.run();
