/** Statements that connections keep: planned again in time, given up where a connection turns out not to be ours alone. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Coroutine, kept, openPostgres, type PostgresDatabase } from "../../runtime/db/index.js";
import { sharedPostgres } from "../support/postgres.js";

const postgres = await sharedPostgres();
const text = kept("select * from kept_rows where id = ?::bigint");

async function opened(): Promise<PostgresDatabase> {
  const database = await openPostgres({ url: await postgres.database(), connections: 1 });
  await database.ask("create table kept_rows (id bigint primary key, name text)", []);
  await database.ask("insert into kept_rows values (1, 'one')", []);
  return database;
}

const read = (database: PostgresDatabase): Promise<unknown[]> => database.query((q) => q.rows(text, [1]));
const names = async (database: PostgresDatabase): Promise<number> =>
  (await database.ask("select name from pg_prepared_statements", [])).rows.length;

test("a connection of ours keeps what is said to be kept, and nothing else", async () => {
  const database = await opened();
  for (let n = 0; n < 200; n++) assert.equal(await read(database), [{ id: 1, name: "one" }]);
  await database.query((q) => q.rows("select 1 where 1 = ?::int", [1]));
  assert.is(await names(database), 1);
  await database.close();
});

test("a column that is added meanwhile fails nothing outside of a transaction, and one transaction at most", async () => {
  const database = await opened();
  await read(database);
  await database.ask("alter table kept_rows add column more text default 'x'", []);
  assert.equal(await read(database), [{ id: 1, name: "one", more: "x" }]);
  await database.close();
  const other = await opened();
  await read(other);
  await other.ask("alter table kept_rows add column more text default 'x'", []);
  const within = () =>
    other.write(function* (q): Coroutine<unknown[]> {
      return yield* q.rows(text, [1]);
    });
  const failed = await within().then(
    () => "read",
    (error: Error) => error.message,
  );
  assert.match(failed, /cached plan/);
  assert.equal(await within(), [{ id: 1, name: "one", more: "x" }]);
  await other.close();
});

test("where the name is lost, as behind a pooler that hides itself, the statement runs without", async () => {
  const database = await opened();
  await read(database);
  await database.ask("deallocate all", []);
  assert.equal(await read(database), [{ id: 1, name: "one" }]);
  assert.equal(await read(database), [{ id: 1, name: "one" }]);
  assert.is(await names(database), 0);
  await database.close();
});

test.after(() => postgres.stop());
test.run();
