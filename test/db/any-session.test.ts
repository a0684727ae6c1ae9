/** Sessions of others: what is stored by us does the same in each of them. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { printSchema } from "../../runtime/db/open.js";
import { openPostgres } from "../../runtime/db/postgres/open.js";
import { openQueue } from "../../runtime/queue/index.js";
import { hasPgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { sharedPostgres } from "../support/postgres.js";

const postgres = await sharedPostgres();

async function apply(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

async function withSetting(setting: string): Promise<string> {
  const url = await postgres.database();
  await apply(url, `alter database ${new URL(url).pathname.slice(1)} set ${setting}`);
  return url;
}

test("what is printed is applied where a database takes backslashes for escapes, and no function has one", async () => {
  const url = await withSetting("standard_conforming_strings = off");
  await apply(url, `begin; ${printSchema("postgres")} commit;`);
  const database = await openPostgres({ url, migrate: false });
  const functions = "select proname from pg_proc where proname like 'adbind%' and position(chr(92) in prosrc) > 0";
  assert.equal((await database.ask(functions, [])).rows, []);
  await database.close();
});

if (hasPgbouncer())
  test("behind a pooler jobs are stored and leased where a database takes backslashes for escapes", async () => {
    const url = await withSetting("standard_conforming_strings = off");
    for (const settings of [{}, { ignore_startup_parameters: "options" }]) {
      const pooler = await startPgbouncer(url, settings);
      const database = await openPostgres({ url: pooler.through(url), connections: 2 });
      assert.equal((await database.ask("show standard_conforming_strings", [])).rows, [
        { standard_conforming_strings: "off" },
      ]);
      const queue = openQueue(database, "t");
      const body = Buffer.from(String.raw`{"said":"a \\ b 'c' \n"}`);
      await queue.transact((q) => queue.add(q, [{ key: "k", random: true, endpoint: "e", meta: "{}", body }]));
      const [job] = await queue.take({ now: Date.now() + 1_000, limit: 1, room: () => 1 });
      assert.is(Buffer.from(job!.body).toString(), body.toString());
      await queue.ack([{ job: job!, outcome: { kind: "done" } }], Date.now());
      await queue.close();
      await database.close();
      await pooler.stop();
    }
  });

test.after(() => postgres.stop());
test.run();
