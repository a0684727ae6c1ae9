/** The schema as instances apply it, as somebody else applies it, and as two versions of them share it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Sqlite from "better-sqlite3";
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { printSchema } from "../../runtime/db/open.js";
import { openPostgres } from "../../runtime/db/postgres/open.js";
import { schema as postgresSchema } from "../../runtime/db/postgres/schema/index.js";
import { checksumOf, type DatabaseSchema, noteStep } from "../../runtime/db/schema.js";
import { openSqlite } from "../../runtime/db/sqlite/open.js";
import { schema as sqliteSchema } from "../../runtime/db/sqlite/schema/index.js";
import type { Database } from "../../runtime/db/types.js";
import { AdbindError } from "../../runtime/errors.js";
import { startPostgres } from "../support/postgres.js";

const postgres = await startPostgres();
const folder = mkdtempSync(path.join(tmpdir(), "adbind-schema-"));
let count = 0;

interface Given {
  readonly migrate?: boolean;
  readonly schema?: DatabaseSchema;
}

interface Engine {
  readonly name: "sqlite" | "postgres";
  readonly schema: DatabaseSchema;
  /** A fresh database. */
  fresh(): Promise<string>;
  open(place: string, given?: Given): Promise<Database>;
  /** As a DBA's tool runs it. */
  apply(place: string, text: string): Promise<void>;
}

const engines: readonly Engine[] = [
  {
    name: "sqlite",
    schema: sqliteSchema,
    fresh: async () => path.join(folder, `${++count}.db`),
    open: async (place, given) => openSqlite({ path: place, ...given }),
    async apply(place, text) {
      const file = new Sqlite(place);
      file.exec(`begin; ${text} commit;`);
      file.close();
    },
  },
  {
    name: "postgres",
    schema: postgresSchema,
    fresh: () => postgres.database(),
    open: (place, given) => openPostgres({ url: place, connections: 3, ...given }),
    async apply(place, text) {
      const client = new pg.Client({ connectionString: place });
      await client.connect();
      await client.query(`begin; ${text} commit;`);
      await client.end();
    },
  },
];

const faultOf = async (opened: Promise<Database>): Promise<AdbindError> => {
  try {
    await (await opened).close();
  } catch (error) {
    assert.instance(error, AdbindError);
    return error as AdbindError;
  }
  throw new Error("it opened");
};

/** A step that only the tests have: a column for a table of ours. */
const next = (schema: DatabaseSchema, compatibleFrom: number): DatabaseSchema => {
  const sql = "alter table adbind_sent_tasks add column shade text;\n";
  return [...schema, { version: schema.length + 1, name: "shade", about: "a colour", compatibleFrom, sql }];
};

for (const engine of engines) {
  const { name, schema, fresh, open, apply } = engine;

  test(`${name}: what is printed makes what an instance makes, in one go or step by step`, async () => {
    const whole = await fresh();
    await apply(whole, printSchema(name));
    const [first, ...rest] = schema;
    const steps = await fresh();
    await (await open(steps, { schema: [first!] })).close();
    await apply(steps, printSchema(name, 2));
    for (const place of [whole, steps]) {
      const database = await open(place, { migrate: false });
      const { applied, missing } = await database.status();
      assert.equal(missing, []);
      assert.equal(
        applied.map((step) => step.name),
        [first!, ...rest].map((step) => step.name),
      );
      assert.equal(await database.migrate(), []);
      await database.close();
    }
  });

  test(`${name}: without leave to migrate, what is missing is named, with the commands; nothing is made`, async () => {
    const place = await fresh();
    await (await open(place, { schema: schema.slice(0, 2) })).close();
    const fault = await faultOf(open(place, { migrate: false }));
    assert.is(fault.code, "store_schema");
    assert.match(fault.message, /lacks schema versions 3 registry, 4 registry-access/);
    assert.match(fault.message, `adbind db schema --sql --engine ${name} --from 3`);
    assert.match(fault.message, "adbind db migrate");
    const before = await open(place, { schema: schema.slice(0, 2), migrate: false });
    assert.equal(
      (await before.status()).applied.map(({ version }) => version),
      [1, 2],
    );
    await before.close();
  });

  test(`${name}: instances of before and after a step run beside each other, and restart`, async () => {
    const place = await fresh();
    const put = (database: Database, id: string) =>
      database.write((q) =>
        q.run(
          "insert into adbind_sent_tasks (task_id, principal, tool, status, instant, details, expires) values (?, 'p', 't', 's', 'i', '{}', 1)",
          [id],
        ),
      );
    const old = await open(place);
    await put(old, "before");
    const newer = await open(place, { schema: next(schema, schema.length) });
    await newer.write((q) => q.run("update adbind_sent_tasks set shade = 'red'"));
    await put(old, "beside");
    await put(newer, "after");
    await old.close();
    const restarted = await open(place);
    await put(restarted, "again");
    const status = await restarted.status();
    assert.equal(status.missing, []);
    assert.equal(status.applied.at(-1), { version: schema.length + 1, name: "shade", known: false });
    const rows = await newer.query((q) => q.rows("select task_id, shade from adbind_sent_tasks order by task_id"));
    assert.equal(rows, [
      { task_id: "after", shade: null },
      { task_id: "again", shade: null },
      { task_id: "before", shade: "red" },
      { task_id: "beside", shade: null },
    ]);
    await restarted.close();
    await newer.close();
  });

  test(`${name}: code from before several steps that only add starts again beside what has them`, async () => {
    const place = await fresh();
    await (await open(place)).close();
    const { compatibleFrom } = schema.at(-1)!;
    for (const before of [schema.slice(0, -2), schema.slice(0, compatibleFrom)]) {
      for (const migrate of [true, false]) {
        const old = await open(place, { schema: before, migrate });
        assert.equal((await old.status()).missing, []);
        await old.close();
      }
    }
    const fault = await faultOf(open(place, { schema: schema.slice(0, compatibleFrom - 1) }));
    assert.match(fault.message, `needs code of version ${compatibleFrom} or newer`);
    for (const [at, step] of schema.entries())
      assert.ok([step.version, schema[at - 1]?.compatibleFrom].includes(step.compatibleFrom), step.name);
  });

  test(`${name}: a step that older code cannot live with refuses it, and says what it needs`, async () => {
    const place = await fresh();
    const needed = schema.length + 1;
    await (await open(place, { schema: next(schema, needed) })).close();
    for (const migrate of [true, false]) {
      const fault = await faultOf(open(place, { migrate }));
      assert.is(fault.code, "store_schema");
      assert.match(fault.message, `schema version ${needed} (shade), which needs code of version ${needed} or newer`);
      assert.match(fault.message, "upgrade adbind");
    }
  });

  test(`${name}: a step of another text is refused`, async () => {
    const place = await fresh();
    await (await open(place)).close();
    const changed = schema.map((step) => (step.version === 2 ? { ...step, sql: `${step.sql}\n-- more` } : step));
    const fault = await faultOf(open(place, { schema: changed }));
    assert.is(fault.code, "store_schema");
    assert.match(fault.message, /schema version 2 \(sender\) was applied from another text/);
  });

  test(`${name}: a step that fails leaves nothing of any`, async () => {
    const place = await fresh();
    const bad = [
      ...schema.slice(0, 2),
      { ...schema[2]!, sql: "create table adbind_half (id integer); select nothing;" },
    ];
    let failed = false;
    try {
      await (await open(place, { schema: bad })).close();
    } catch {
      failed = true;
    }
    assert.ok(failed);
    const database = await open(place, { schema: [], migrate: false });
    assert.equal(await database.status(), { applied: [], missing: [] });
    await database.close();
  });

  test(`${name}: the printed schema is for people`, () => {
    const text = printSchema(name);
    assert.match(text, /create table if not exists adbind_migrations/);
    for (const step of schema) {
      assert.match(text, `-- ${step.version} ${step.name}: ${step.about}`);
      assert.ok(text.includes(noteStep(step)));
      assert.ok(text.includes(checksumOf(step.sql)));
    }
    assert.not.match(printSchema(name, 3), /adbind_senders/);
  });
}

test("a role that may not create runs on what somebody else made, and says so where something is missing", async () => {
  const url = await postgres.database();
  await apply(url, "create role app login password 'app'; revoke create on schema public from public;");
  const appUrl = url.replace("adbind:adbind@", "app:app@");
  const refused = await faultOf(openPostgres({ url: appUrl }));
  assert.is(refused.code, "store_schema");
  assert.match(
    refused.message,
    /role may not create adbind's tables: permission denied .*adbind db migrate.*grant create on schema.*adbind db schema --sql/,
  );
  await apply(url, printSchema("postgres"));
  const blind = await faultOf(openPostgres({ url: appUrl }));
  assert.match(
    blind.message,
    /role may not use adbind's tables .*grant select, insert, update, delete on all tables in schema public to app/,
  );
  await apply(url, "grant select, insert, update, delete on all tables in schema public to app;");
  for (const migrate of [true, false]) {
    const database = await openPostgres({ url: appUrl, migrate });
    await database.write((q) => q.run("insert into adbind_senders (url) values (?)", [`https://${migrate}.example/`]));
    await database.query((q) => q.analyze(["adbind_senders"]));
    assert.match(
      await database.ask("create table mine (id integer)", []).then(String, (error: Error) => error.message),
      /permission denied/,
    );
    await database.close();
  }
});

test("steps that a superuser applies make tables and functions of the owner of the others", async () => {
  const url = await postgres.database();
  await apply(url, "create role owner login password 'owner'; grant create on schema public to owner;");
  const ownUrl = url.replace("adbind:adbind@", "owner:owner@");
  await (await openPostgres({ url: ownUrl, schema: postgresSchema.slice(0, 14) })).close();
  await (await openPostgres({ url, schema: postgresSchema.slice(0, 24) })).close();
  const database = await openPostgres({ url: ownUrl });
  try {
    const others = `select oid::regclass::text as name from pg_class where left(relname, 7) = 'adbind_' and relkind in ('r', 'p', 'S')
        and relowner <> 'owner'::regrole
      union all select oid::regprocedure::text from pg_proc where left(proname, 7) = 'adbind_' and proowner <> 'owner'::regrole`;
    assert.equal((await database.ask(others, [])).rows, []);
    assert.equal((await database.status()).missing, []);
    await database.write((q) => q.run("delete from adbind_keyspaces"));
  } finally {
    await database.close();
  }
});

const apply = engines[1]!.apply;

test.after(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});
test.run();
