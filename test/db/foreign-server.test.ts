/** A PostgreSQL that somebody else runs: its roles and what they may, and settings that a role or a database has by default. */
import pg from "pg";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/postgres/open.js";
import type { PartitionsKept } from "../../runtime/db/types.js";
import { AdbindError } from "../../runtime/errors.js";
import { startPostgres } from "../support/postgres.js";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 3, 18, 12);
const postgres = await startPostgres({ fsync: "off" });

async function apply(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

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
  await apply(
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

test("a role that may not make or drop partitions is told who may", async () => {
  const url = await postgres.database();
  await (await openPostgres({ url })).close();
  await apply(
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

test.after(() => postgres.stop());
test.run();
