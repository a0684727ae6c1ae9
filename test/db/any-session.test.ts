/** Sessions of others: what is stored by us does the same in each of them. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { printSchema } from "../../runtime/db/open.js";
import { openPostgres } from "../../runtime/db/postgres/open.js";
import { openQueue } from "../../runtime/queue/index.js";
import { hasPgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { runStatements, sharedPostgres } from "../support/postgres.js";

const postgres = await sharedPostgres();

async function withSetting(setting: string): Promise<string> {
  const url = await postgres.empty();
  await runStatements(url, `alter database ${new URL(url).pathname.slice(1)} set ${setting}`);
  return url;
}

test("what is printed is applied where a database takes backslashes for escapes, and no function has one", async () => {
  const url = await withSetting("standard_conforming_strings = off");
  await runStatements(url, `begin; ${printSchema("postgres")} commit;`);
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

/** A schema for a store, under a name that has to be quoted, beside one that has the same tables and functions. */
async function twoStores() {
  const url = await postgres.empty();
  await runStatements(url, 'create schema "North ""1"" a.b"', "create schema south");
  const stores = ['"North ""1"" a.b"', "south"].map((schema) => {
    const path = encodeURIComponent(`-c search_path=${schema.replaceAll(" ", "\\ ")}`);
    return { schema, url: `${url}&options=${path}` };
  });
  for (const store of stores) await (await openPostgres({ url: store.url })).close();
  return { url, north: stores[0]!, south: stores[1]! };
}

test("functions of ours find our tables in their own schema, whatever their caller's search_path is", async () => {
  const { url, north } = await twoStores();
  const tables = "adbind_jobs adbind_job_bodies adbind_dedup adbind_sent_tasks adbind_activity adbind_endpoints".split(
    " ",
  );
  const paths = [
    "set search_path = south",
    "set search_path = ''",
    "set search_path = nowhere, public",
    ...tables.map((table) => `create temp table ${table} (like south.${table})`),
  ];
  const client = new pg.Client(url);
  await client.connect();
  const call = (text: string) => client.query(text.replaceAll("@", `${north.schema}.`));
  for (const path of paths) {
    await client.query(path);
    const dedup = paths.indexOf(path);
    await call(`select @adbind_enqueue('t', 'working', message => 'm', dedup_key => 'k${dedup}')`);
    await call(
      `select @adbind_change_tasks('[]', '[]', true, null, null, null, '[]',
        '[{"task_id": "t", "dedup_key": "c${dedup}", "digest": "d", "keys": "", "expires": 1}]', 'webhooks', 1,
        '[{"key": "k${dedup}", "random": true, "endpoint": "e", "ordering_key": "o", "due": 1, "meta": "{}", "plain": true}]', 'b', false)`,
    );
    const leased = await call(
      "select id from @adbind_lease_jobs('webhooks', '{e}', '{1}', 1, 9999999999999, 'token', 1000)",
    );
    const ids = `{${leased.rows[0].id}}`;
    await call(
      `select @adbind_ack_jobs('webhooks', 1, '${ids}', '{token}', '{done}', '{null}', '{null}', '{null}', '{p}', '{s}', '{r}', '{1}')`,
    );
  }
  const count = (schema: string, table: string) =>
    client.query<{ n: number }>(`select count(*)::int as n from ${schema}.${table}`).then(({ rows }) => rows[0]!.n);
  for (const table of tables) assert.is(await count("south", table), 0, table);
  for (const table of tables.filter((one) => one !== "adbind_sent_tasks" && one !== "adbind_endpoints")) {
    const expected = table === "adbind_dedup" || table === "adbind_job_bodies" ? 2 * paths.length : paths.length;
    assert.is(await count(north.schema, table), expected, table);
    assert.is(await count("pg_temp", table), 0, table);
  }
  await client.end();
});

test("every name of ours in a function of ours has its schema with it", async () => {
  const { north } = await twoStores();
  const database = await openPostgres({ url: north.url });
  const { rows } = await database.ask(
    "select proname as name, prosrc as text from pg_proc where pronamespace = quote_ident(current_schema())::regnamespace",
    [],
  );
  assert.is(rows.length, 6);
  for (const { name, text } of rows as { name: string; text: string }[]) {
    const code = text.replaceAll(/--.*|'[^']*'/g, "").replaceAll(north.schema, "own");
    const bare = [...code.matchAll(/(own\.)?\badbind_\w+\.?/g)]
      .filter(([found, own]) => own === undefined && found !== `${name}.` && !found.endsWith("_pkey"))
      .map(([found]) => found);
    assert.equal(bare, [], name);
  }
  await database.close();
});

test("a schema that was renamed is told to its functions by their step", async () => {
  const { url, south } = await twoStores();
  await runStatements(
    url,
    "alter schema south rename to east",
    "delete from east.adbind_migrations where name = 'any-session'",
  );
  const database = await openPostgres({ url: south.url.replace("south", "east") });
  await database.ask("select adbind_enqueue('t', 'working')", []);
  assert.equal((await database.ask("select count(*)::int as n from east.adbind_jobs", [])).rows, [{ n: 1 }]);
  await database.close();
});

test.after(() => postgres.stop());
test.run();
