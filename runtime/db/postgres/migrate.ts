/** Brings a database to a schema, one instance at a time. */
import type pg from "pg";
import { type AppliedStep, type DatabaseSchema, missingSteps, noteStep } from "../schema.js";
import { stayBeside } from "./beside-ours.js";
import { ask } from "./client.js";
import { migrationTable } from "./migration-table.js";

/** Any fixed number: instances that start together take turns on it. */
const MIGRATION_LOCK = 4_221_093_117;
/** Longest wait for another instance that migrates, in milliseconds: as long as an index of a large table takes. */
const TURN_MS = 600_000;
/** Longest wait for a table that others use, in milliseconds: what waits for a table holds up all that come after it. */
const TABLE_LOCK_MS = 10_000;

/**
 * Has adbind been here? The catalog is read as a table: `to_regclass` answers from a session's cache, which waiting for an
 * advisory lock does not renew, and would miss what the holder of that lock has made.
 */
export async function isStore(client: pg.ClientBase): Promise<boolean> {
  const text =
    "select exists (select 1 from pg_catalog.pg_class where relname = 'adbind_migrations' and " +
    "pg_catalog.pg_table_is_visible(oid)) as there";
  return (await ask<{ there: boolean }>(client, text)).rows[0]!.there;
}

export async function appliedSteps(client: pg.ClientBase): Promise<AppliedStep[]> {
  if (!(await isStore(client))) return [];
  return (await ask<AppliedStep>(client, "select version, name, checksum, compatible_from from adbind_migrations"))
    .rows;
}

/**
 * What a superuser, or a member of the owner's role, has made becomes the owner's of what was there before: whoever runs on the rest
 * could not use it otherwise, and could not apply the next step. Where that cannot be given away it stays.
 */
async function giveToOwner(client: pg.ClientBase): Promise<void> {
  const text = `with home as (
      select relnamespace as space, relowner as owner from pg_catalog.pg_class where oid = 'adbind_migrations'::regclass
    ), made as (
      select 'table ' || oid::regclass as what, relowner as maker, relnamespace as space from pg_catalog.pg_class
        where relkind in ('r', 'p') and left(relname, 7) = 'adbind_'
      union all
      select 'function ' || oid::regprocedure, proowner, pronamespace from pg_catalog.pg_proc where left(proname, 7) = 'adbind_'
    )
    select what, owner::regrole::text as owner from made join home using (space)
      where maker <> owner and maker = (select oid from pg_catalog.pg_roles where rolname = current_user)
        and has_schema_privilege(owner, space, 'create')
        and pg_has_role(owner, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)`;
  const { rows } = await ask<{ what: string; owner: string }>(client, text);
  for (const { what, owner } of rows) await ask(client, `alter ${what} owner to ${owner}`);
}

/** Inside a transaction: applies what is missing. @returns names of what was applied */
export async function migrate(client: pg.ClientBase, schema: DatabaseSchema, where: string): Promise<string[]> {
  await ask(client, `set local lock_timeout = ${TURN_MS}`);
  await ask(client, "select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
  await ask(client, `set local lock_timeout = ${TABLE_LOCK_MS}`);
  await stayBeside(client);
  const missing = missingSteps(schema, await appliedSteps(client), where);
  await ask(client, migrationTable);
  for (const step of missing) await ask(client, `${step.sql}\n${noteStep(step)}`);
  if (missing.length > 0) await giveToOwner(client);
  return missing.map(({ name }) => name);
}
