/** Behind a pooler that hands out connections by the transaction (PgBouncer, pool_mode = transaction). */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Coroutine } from "../../runtime/db/coroutine.js";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/postgres/open.js";
import type { Query } from "../../runtime/db/types.js";
import { hasPgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { runStatements, sharedPostgres } from "../support/postgres.js";
import { thrownBy } from "../support/thrown.js";
import { databaseCase } from "./database.case.js";
import { withLevel } from "./isolation.js";

if (!hasPgbouncer()) {
  // Where it can be had, `./run test` has installed it.
  console.log("skipped: pgbouncer is not installed (apt-get install pgbouncer)");
  test("without a pooler nothing is tested", () => undefined);
  test.run();
  process.exit(0);
}

const postgres = await sharedPostgres();
let direct = await postgres.empty();
const refusing = await startPgbouncer(direct);
const ignoring = await startPgbouncer(direct, { ignore_startup_parameters: "options" });
const poolers = { "refuses parameters": refusing, "drops parameters": ignoring };

for (const [name, pooler] of Object.entries(poolers)) {
  const open = () => openPostgres({ url: pooler.through(direct), listenUrl: direct, connections: 4 });

  databaseCase({
    name: `pooler that ${name}`,
    open,
    reset: async () => {
      direct = await postgres.empty();
    },
    async transact(database, work) {
      const client = await (database as PostgresDatabase).pool.connect();
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
    },
    hearsOthers: true,
  });

  test(`a pooler that ${name} is recognized, and every transaction brings its timeouts`, async () => {
    const database = await open();
    assert.ok(database.pooled);
    const shown = await database.write(function* (q): Coroutine<unknown[]> {
      return yield* q.rows("select current_setting('statement_timeout') as s, current_setting('lock_timeout') as l");
    });
    assert.equal(shown, [{ s: "30s", l: "10s" }]);
    // Nothing of it stays behind for the next user of the server's connection.
    assert.equal((await database.ask("select current_setting('statement_timeout') as s", [])).rows, [{ s: "0" }]);
    await database.close();
  });

  test(`behind a pooler that ${name} statements see what others have committed by then, whatever the database has by default`, async () => {
    const url = await postgres.empty();
    await withLevel(url, "serializable");
    const database = await openPostgres({ url: pooler.through(url), listenUrl: url, connections: 4 });
    const shown = (q: Query) => q.rows<{ transaction_isolation: string }>("show transaction_isolation");
    const found = [...(await database.query(shown)), ...(await database.write(shown))];
    assert.equal(new Set(found.map((row) => row.transaction_isolation)), new Set(["read committed"]));
    await database.close();
  });

  test(`behind a pooler that ${name} values come and go as they are, whatever the database has by default`, async () => {
    const url = await postgres.empty();
    for (const setting of ["array_nulls = off", "extra_float_digits = 0", "standard_conforming_strings = off"])
      await runStatements(url, `alter database ${new URL(url).pathname.slice(1)} set ${setting}`);
    const database = await openPostgres({ url: pooler.through(url), connections: 2 });
    const text = "select (cast(? as integer[]))[1] as n, 0.1::float8 + 0.2 as f, '\\\\' as s";
    const asked = (q: Query) => q.rows(text, [[null] as never]);
    const came = { n: null, f: 0.1 + 0.2, s: "\\\\" };
    assert.equal(
      [...(await database.query(asked)), ...(await database.write(asked)), ...(await database.read(asked))],
      [came, came, came],
    );
    await database.close();
  });

  test(`nothing of ours is prepared by name behind a pooler that ${name}`, async () => {
    const database = await open();
    const text = "select n from generate_series(1, ?::int) n";
    const read = () => database.query((q) => q.each<{ n: number }>(text, [3], () => undefined));
    await Promise.all(Array.from({ length: 20 }, read));
    const counted = await database.ask("select count(*)::int as n from pg_prepared_statements", []);
    assert.equal(counted.rows, [{ n: 0 }]);
    await database.close();
  });

  test(`instances that start together behind a pooler that ${name} migrate once and are all there`, async () => {
    direct = await postgres.empty();
    const databases = await Promise.all(Array.from({ length: 6 }, open));
    for (const database of databases) assert.equal((await database.status()).missing, []);
    // More work at a time than the pooler has connections, and statements that one connection never sees twice.
    const sums = await Promise.all(
      databases.flatMap((database) =>
        Array.from({ length: 10 }, (_, n) =>
          database.write(function* (q): Coroutine<number> {
            yield* q.lock(`turn ${n % 3}`);
            return (yield* q.rows<{ n: number }>("select cast(? as bigint) + 1 as n", [n]))[0]!.n;
          }),
        ),
      ),
    );
    assert.equal(
      sums,
      databases.flatMap(() => [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    );
    await Promise.all(databases.map((database) => database.close()));
  });
}

test("a search_path of the URL that a pooler drops is refused before anything is made in another schema", async () => {
  const url = await postgres.empty();
  await runStatements(url, "create schema tenant");
  const saying = (options: string): string => `${ignoring.through(url)}&options=${encodeURIComponent(options)}`;
  for (const options of ["-c search_path=tenant", "--search-path=tenant", "-c lock_timeout=3s -csearch_path=tenant"]) {
    const { code, message } = await thrownBy(() => openPostgres({ url: saying(options) }));
    assert.is(code, "store_option_invalid");
    assert.match(message, /search_path is "\$user", public, and not tenant .*alter role/);
  }
  assert.match(
    (await thrownBy(() => openPostgres({ url: saying("-c app.tenant=a") }))).message,
    "app.tenant is not set",
  );
  const made = new pg.Client(url);
  await made.connect();
  assert.equal((await made.query("select 1 from pg_tables where tablename ~ '^adbind_'")).rows, []);
  await made.end();
  // What costs time at most is as it was.
  await (await openPostgres({ url: saying("-c lock_timeout=3s") })).close();
});

test("a search_path of the URL that the database has anyway is none that a pooler could drop", async () => {
  const url = await postgres.empty();
  const name = new URL(url).pathname.slice(1);
  await runStatements(url, "create schema tenant", `alter database ${name} set search_path = tenant, public`);
  const options = encodeURIComponent('-c search_path="tenant",public');
  const database = await openPostgres({ url: `${ignoring.through(url)}&options=${options}` });
  const text = "select relnamespace::regnamespace::text as schema from pg_class where relname = 'adbind_jobs'";
  assert.equal((await database.ask(text, [])).rows, [{ schema: "tenant" }]);
  await database.close();
});

test("without a second URL nothing is listened to, and nothing fails", async () => {
  const database = await openPostgres({ url: refusing.through(direct) });
  let heard = 0;
  const stop = database.onNotify("things", () => {
    heard += 1;
  });
  await database.write((q) => q.notify("things", "one"));
  assert.is(heard, 0);
  stop();
  await database.close();
});

test.after(async () => {
  await Promise.all(Object.values(poolers).map((pooler) => pooler.stop()));
  await postgres.stop();
});
test.run();
