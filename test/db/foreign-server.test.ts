/** A PostgreSQL that somebody else runs: its roles and what they may, and settings that a role or a database has by default. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/db.js";
import { isPassingFault } from "../../runtime/db/open.js";
import { openPostgres } from "../../runtime/db/postgres/open.js";
import { schema } from "../../runtime/db/postgres/schema/index.js";
import type { PartitionsKept } from "../../runtime/db/types.js";
import { AdbindError } from "../../runtime/errors.js";
import { openQueue } from "../../runtime/queue/index.js";
import { runCommand } from "../cli/run-command.js";
import { runStatements, startPostgres } from "../support/postgres.js";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 3, 18, 12);
const postgres = await startPostgres({ fsync: "off" });

const as = (url: string, username: string): string => Object.assign(new URL(url), { username, password: "p" }).href;

async function partitions(url: string, now: number): Promise<PartitionsKept> {
  const database = await openPostgres({ url, migrate: false });
  try {
    return await database.partitions({ now, days: 1, activityDays: 30 });
  } finally {
    await database.close();
  }
}

const faultOf = async (work: Promise<unknown>): Promise<AdbindError> => {
  const fault = await work.then(
    () => assert.unreachable("it went well"),
    (error: unknown) => error,
  );
  assert.instance(fault, AdbindError);
  return fault as AdbindError;
};

test("days that a role with more rights has made are the tables' owner's, who drops them", async () => {
  const url = await postgres.database();
  await runStatements(
    url,
    `create role "Own ""er" login password 'p'`,
    `create role alice login password 'p' in role "Own ""er"`,
    `grant create on schema public to "Own ""er", alice`,
  );
  const owner = as(url, encodeURIComponent('Own "er'));
  await (await openPostgres({ url: owner })).close();
  assert.is((await partitions(url, NOW)).made.length, 4, "by a superuser");
  assert.is((await partitions(as(url, "alice"), NOW + 2 * DAY)).made.length, 4, "by a member");
  const { made, dropped } = await partitions(owner, NOW + 60 * DAY);
  assert.equal([made.length, dropped.length], [4, 8]);
});

test("a member that may not become the tables' owner makes and drops days of its own, which the owner leaves, and tells", async () => {
  const url = await postgres.database();
  await runStatements(
    url,
    "create role owns login password 'p'",
    "create role bob login password 'p'",
    "grant owns to bob with inherit true, set false",
    "grant create on schema public to owns",
  );
  await (await openPostgres({ url: as(url, "owns") })).close();
  assert.is((await partitions(as(url, "bob"), NOW)).made.length, 4);
  assert.is((await partitions(as(url, "owns"), NOW + 2 * DAY)).made.length, 4);
  const owners = await partitions(as(url, "owns"), NOW + 60 * DAY);
  assert.equal([owners.made.length, owners.dropped.length, owners.left.length], [4, 4, 4]);
  assert.match(owners.left[0]!.why, "it is bob's");
  const { dropped, left } = await partitions(as(url, "bob"), NOW + 120 * DAY);
  assert.equal([dropped.length, left.length], [8, 0]);
});

test("a role that may not make or drop partitions is told who may", async () => {
  const url = await postgres.database();
  await (await openPostgres({ url })).close();
  await runStatements(
    url,
    "create role runs login password 'p'",
    "grant select, insert, update, delete on all tables in schema public to runs",
  );
  const fault = await faultOf(partitions(as(url, "runs"), NOW));
  assert.is(fault.code, "store_schema");
  assert.match(
    fault.message,
    /may not make or drop partitions: permission denied .*`adbind db partitions` as the owner/,
  );
  assert.not.match(fault.message, "adbind db migrate");
});

const opening = (url: string): Promise<AdbindError> =>
  faultOf(openPostgres({ url, migrate: false }).then((database) => database.close()));

test("each right that a role lacks is told as it is opened, with the grant that gives it", async () => {
  const url = await postgres.database();
  const role = `"a ""role"`;
  const north = `${as(url, encodeURIComponent('a "role'))}&options=-c%20search_path%3D%22No%22`;
  await runStatements(url, `create role ${role} login password 'p'`, 'create schema "No"');
  await (await openPostgres({ url: `${url}&options=-c%20search_path%3D%22No%22` })).close();
  const name = new URL(url).pathname.slice(1);
  await runStatements(
    url,
    `revoke connect on database ${name} from public`,
    `revoke execute on all functions in schema "No" from public`,
  );
  const grants = [
    [/may not connect to it.*grant connect on the database/, `grant connect on database ${name} to ${role}`],
    [
      /tables .*grant usage on schema "No" to "a ""role"; grant select, .* on all tables in schema "No" to "a ""role"; grant execute on all/,
      `grant usage on schema "No" to ${role}; grant select, insert, update, delete on all tables in schema "No" to ${role};
       revoke select on "No".adbind_migrations from ${role}`,
    ],
    [
      /tables .*: grant select, insert, update, delete on "No"\.adbind_migrations to .*; grant execute on all functions in schema "No"/,
      `grant select on "No".adbind_migrations to ${role}`,
    ],
  ] as const;
  for (const [told, grant] of grants) {
    const fault = await opening(north);
    assert.is(fault.code, "database_unreachable");
    assert.match(fault.message, told);
    await runStatements(url, grant);
  }
  await (await openPostgres({ url: north })).close();
});

/** By a command on a machine whose clock is off. @returns what it has made and dropped */
async function partitionsAt(url: string, offMs: number): Promise<number[]> {
  const { now } = Date;
  Date.now = () => now() + offMs;
  try {
    const ran = await runCommand(register, ["partitions", "--store", url, "--days", "1", "--json"]);
    assert.is(ran.code, 0, ran.err);
    const { made, dropped } = JSON.parse(ran.out) as PartitionsKept;
    return [made.length, dropped.length];
  } finally {
    Date.now = now;
  }
}

test("days are made and dropped by the server's clock, whatever that of the machine is on which the command runs", async () => {
  const url = await postgres.database();
  await (await openPostgres({ url })).close();
  assert.equal(await partitionsAt(url, -40 * DAY), [4, 0]);
  assert.equal(await partitionsAt(url, 40 * DAY), [0, 0]);
  assert.equal(await partitionsAt(url, 0), [0, 0]);
});

const schemasOf = async (url: string): Promise<string[]> => {
  const client = new pg.Client(url);
  await client.connect();
  const text = "select distinct relnamespace::regnamespace::text as name from pg_class where relname like 'adbind%'";
  const { rows } = await client.query<{ name: string }>(text);
  await client.end();
  return rows.map(({ name }) => name);
};

test("a schema that is named like the role, and came later, takes neither tables of later steps nor days", async () => {
  const url = await postgres.database();
  await (await openPostgres({ url, schema: schema.slice(0, 9) })).close();
  await runStatements(url, "create schema authorization current_user");
  await (await openPostgres({ url })).close();
  assert.is((await partitions(url, NOW)).made.length, 4);
  assert.equal(await schemasOf(url), ["public"]);
});

test("days stand in the tablespace that their table is given", async () => {
  const url = await postgres.database();
  await (await openPostgres({ url })).close();
  await runStatements(
    url,
    "set allow_in_place_tablespaces = on",
    "create tablespace large location ''",
    "alter table adbind_activity set tablespace large",
    "alter index adbind_activity_pkey set tablespace large",
  );
  const { made } = await partitions(url, NOW);
  const database = await openPostgres({ url });
  const text = `select distinct c.relkind, spcname from pg_tablespace s join pg_class c on c.reltablespace = s.oid
    where c.relname like 'adbind_activity_2%' order by 1`;
  assert.equal((await database.ask(text, [])).rows, [
    { relkind: "i", spcname: "large" },
    { relkind: "r", spcname: "large" },
  ]);
  assert.is(made.length, 4);
  await database.close();
  await runStatements(url, "drop table adbind_activity", "drop tablespace large");
});

async function withSetting(setting: string): Promise<string> {
  const url = await postgres.database();
  await runStatements(url, `alter database ${new URL(url).pathname.slice(1)} set ${setting}`);
  return url;
}

test("backslashes in strings are characters, whatever a database has by default", async () => {
  const database = await openPostgres({ url: await withSetting("standard_conforming_strings = off") });
  const queue = openQueue(database, "t");
  const body = Buffer.from(String.raw`{"said":"a \\ b 'c' \n"}`);
  await queue.transact((q) => queue.add(q, [{ key: "k", random: true, endpoint: "e", meta: "{}", body }]));
  const [job] = await queue.take({ now: Date.now() + DAY, limit: 1, room: () => 1 });
  assert.is(Buffer.from(job!.body).toString(), body.toString());
  await queue.close();
  await database.close();
});

test("a server that takes no writes says what may be behind it", async () => {
  const fault = await faultOf(openPostgres({ url: await withSetting("default_transaction_read_only = on") }));
  assert.is(fault.code, "database_unreachable");
  assert.match(fault.message, /takes no writes .*target_session_attrs=read-write.*default_transaction_read_only/);
});

test("a search_path that leads nowhere is told as that", async () => {
  const fault = await faultOf(openPostgres({ url: await withSetting("search_path = nowhere") }));
  assert.match(fault.message, /search_path names no schema .*create the schema, grant usage on it/);
});

test("a database whose encoding lacks characters is refused before anything is stored in it", async () => {
  const url = await postgres.database();
  const name = "latin_one";
  await runStatements(url, `create database ${name} encoding 'LATIN1' locale 'C' template template0`);
  const latin = Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const fault = await faultOf(openPostgres({ url: latin }).then((database) => database.close()));
  assert.is(fault.code, "store_option_invalid");
  assert.match(fault.message, /encoding is LATIN1.*encoding 'UTF8'/);
});

test("a limit on whole transactions ends no migration, and what it ends may be asked again", async () => {
  const url = await withSetting("transaction_timeout = '500ms'");
  const slow = [{ version: 1, name: "slow", about: "", compatibleFrom: 1, sql: "select pg_sleep(1);" }];
  const database = await openPostgres({ url, schema: slow });
  assert.equal((await database.status()).missing, []);
  const ended = await database.write((q) => q.rows("select pg_sleep(2)")).catch((error: unknown) => error);
  assert.ok(isPassingFault(ended), String(ended));
  assert.equal(await database.query((q) => q.rows("select 1 as one")), [{ one: 1 }]);
  await database.close();
});

test.after(() => postgres.stop());
test.run();
