/** Behind a pooler that hands out connections by the transaction (PgBouncer, pool_mode = transaction). */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Coroutine } from "../../runtime/db/coroutine.js";
import { openPostgres, type PostgresDatabase } from "../../runtime/db/postgres/open.js";
import type { Query } from "../../runtime/db/types.js";
import { hasPgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { sharedPostgres } from "../support/postgres.js";
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
