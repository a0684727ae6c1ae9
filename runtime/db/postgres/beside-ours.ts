/** Where tables are made by us that come later than the store. */
import type pg from "pg";
import { ask } from "./client.js";

/**
 * Has what this transaction makes stand beside our tables. A schema may have come since that is before theirs on the search_path: one
 * that is named like the role is, by default. Nothing where there are no tables of ours yet.
 */
export const stayBeside = (tx: pg.ClientBase): Promise<unknown> =>
  ask(
    tx,
    `select set_config('search_path', concat_ws(', ', relnamespace::regnamespace, nullif(current_setting('search_path'), '')), true)
      from pg_catalog.pg_class where relname = 'adbind_migrations' and pg_catalog.pg_table_is_visible(oid)`,
  );
