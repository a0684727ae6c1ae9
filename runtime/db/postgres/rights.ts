/** What the role of a connection lacks to use a store that is there. Asked where a store is not found, or may not be read. */
import type pg from "pg";
import { AdbindError } from "../../errors.js";
import { hiddenTables } from "../hidden-tables.js";
import { ask } from "./client.js";
import { HIDDEN_TABLES } from "./hidden.js";

/** Schemas that the session's search_path names, also those that the role may not use. */
const NAMED = `array(select case when trim(p) = '"$user"' then quote_ident(current_user) else trim(p) end
  from unnest(string_to_array(current_setting('search_path'), ',')) p)`;

/** The grants that mend it. Few tables are named; who lacks more lacks all. */
const LACKING = `with store as (
    select n.oid, quote_ident(n.nspname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relname = 'adbind_migrations' and quote_ident(n.nspname) = any(${NAMED})
  ), lacking as (
    select 1 as n, 'usage' as what, 'schema ' || name as place from store where not has_schema_privilege(oid, 'usage')
    union all
    select 2, 'select, insert, update, delete',
      case when count(*) > 3 then 'all tables in schema ' || s.name else string_agg(s.name || '.' || c.relname, ', ') end
    from store s join pg_class c on c.relnamespace = s.oid and c.relname like 'adbind!_%' escape '!' and c.relkind in ('r', 'p')
    where not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
      and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))
    group by s.name
    union all
    select 3, 'execute', 'all functions in schema ' || s.name from store s where exists (select from pg_proc p
      where p.pronamespace = s.oid and p.proname like 'adbind!_%' escape '!' and not has_function_privilege(p.oid, 'execute'))
    union all
    select 4, 'usage, select', 'all sequences in schema ' || s.name from store s where exists (select from pg_class c
      where c.relnamespace = s.oid and c.relname like 'adbind!_%' escape '!' and c.relkind = 'S'
        and not (has_sequence_privilege(c.oid, 'usage') and has_sequence_privilege(c.oid, 'select')))
  )
  select 'grant ' || what || ' on ' || place || ' to ' || quote_ident(current_user) as text from lacking order by n`;

/** @param where host, port and database, for messages @throws AdbindError `database_unreachable` that names the tables */
export async function refuseHidden(client: pg.ClientBase, where: string): Promise<void> {
  const { rows } = await ask<{ hidden: string | null }>(client, `select ${HIDDEN_TABLES} as hidden`);
  const hidden = rows[0]?.hidden;
  if (hidden != null) throw hiddenTables("opened", hidden, where);
}

/**
 * @param where host, port and database, for messages
 * @param cause what was met, if anything
 * @throws AdbindError `database_unreachable` that names the grants
 */
export async function refuseLacking(client: pg.ClientBase, where: string, cause?: unknown): Promise<void> {
  const { rows } = await ask<{ text: string }>(client, LACKING);
  if (rows.length === 0) return;
  const grants = rows.map(({ text }) => text).join("; ");
  throw new AdbindError("database_unreachable", "the database cannot be opened: the role may not use adbind's tables", {
    where,
    remedy: `run as their owner: ${grants}`,
    ...(cause !== undefined && { cause }),
  });
}
