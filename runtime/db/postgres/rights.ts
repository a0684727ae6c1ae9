/** What the role of a connection lacks to use a store that is there. Asked where a store is not found, or may not be read. */
import type pg from "pg";
import { AdbindError } from "../../errors.js";
import { ask } from "./client.js";

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
  )
  select 'grant ' || what || ' on ' || place || ' to ' || quote_ident(current_user) as text from lacking order by n`;

/** Tables of ours of which row level security, switched on since, lets the role see nothing: no policy says otherwise. */
const HIDDEN = `select c.oid::regclass::text as name from pg_class c
  where c.relname like 'adbind!_%' escape '!' and c.relkind in ('r', 'p') and pg_table_is_visible(c.oid) and c.relrowsecurity
    and row_security_active(c.oid) and not exists (select from pg_policy p where p.polrelid = c.oid and p.polpermissive
      and exists (select from unnest(p.polroles) as of (role) where role = 0 or pg_has_role(current_user, role, 'usage')))
  order by name`;

/**
 * Without an error what is stored would be as if it were not there: a change of a task would be told to nobody.
 * @param where host, port and database, for messages
 * @throws AdbindError `database_unreachable` that names the tables
 */
export async function refuseHidden(client: pg.ClientBase, where: string): Promise<void> {
  const { rows } = await ask<{ name: string }>(client, HIDDEN);
  if (rows.length === 0) return;
  const more = rows.length > 3 ? ` and ${rows.length - 3} more` : "";
  const names = rows.map(({ name }) => name).slice(0, 3);
  throw new AdbindError(
    "database_unreachable",
    `the database cannot be opened: row level security hides all rows of ${names.join(", ")}${more} from the role`,
    {
      where,
      remedy: `run as their owner, for each: alter table ${names[0]} disable row level security; or give the role a policy (create policy NAME on ${names[0]} to ROLE using (true))`,
    },
  );
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
