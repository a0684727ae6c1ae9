/**
 * Statements of a registry, written once for both databases: `?` for values, lists as one value. A flow of them runs to
 * its end inside SQLite's synchronous transaction, and waits on PostgreSQL.
 */

import type { Database, Statement } from "better-sqlite3";
import type { MaybePromise } from "../contract.js";
import { type Flow, run, runSync } from "../signing/flow.js";
import { binaryArray, type ColumnType } from "./postgres/binary-array.js";
import { postgresEach } from "./postgres/each.js";
import type { PostgresStore } from "./postgres/open.js";
import type { Tx } from "./postgres/tables.js";
import { postgresRunner, type Runner, sqliteRunner } from "./sender-tables.js";
import type { SqliteStore } from "./sqlite/open.js";
import { Writer } from "./sqlite/writer.js";

export type Value = string | number | null;
/** A list as one value, made by `Query.list`. */
export type ListValue = string | readonly Value[];
export type Columns = readonly (readonly [name: string, type: ColumnType])[];

export interface Query {
  rows<Row>(text: string, values?: readonly (Value | ListValue)[]): MaybePromise<Row[]>;
  /** Condition that a column is in a list given as one `?`. */
  among(column: string, type: ColumnType): string;
  list(values: readonly Value[]): ListValue;
  /** Table of the members of a JSON object of texts given as one `?`; its columns are `key` and `value`. */
  readonly members: string;
  /** Inserts many rows. @param conflict the `on conflict` clause */
  insert(
    table: string,
    columns: Columns,
    rows: readonly (readonly Value[])[],
    conflict?: string,
  ): MaybePromise<unknown[]>;
  /** Has the database look at tables that grew at once: it plans by what it last saw of them, and would look too late. */
  analyze(tables: readonly string[]): MaybePromise<unknown[]>;
  /** `for update` where rows are locked one by one; empty on SQLite, whose transactions exclude each other. */
  readonly lock: "" | " for update";
}

/** Statements that stand for themselves. */
export interface Peek extends Query {
  /**
   * Takes rows one by one as they come: a caller that works on each has done so when the last is there.
   * @param take what it throws ends the question
   */
  each<Row>(text: string, values: readonly (Value | ListValue)[], take: (row: Row) => void): MaybePromise<void>;
}

export interface RegistryStore {
  readonly kind: "sqlite" | "postgres";
  /** Statements that see one state of the database, and write nothing. */
  read<T>(flow: (query: Query) => Flow<T>): Promise<T>;
  /** One statement, or several that need not agree. */
  peek<T>(flow: (query: Peek) => Flow<T>): Promise<T>;
  /** One transaction; durable when it answers. */
  write<T>(flow: (query: Query) => Flow<T>): Promise<T>;
}

export const registryStore = (store: SqliteStore | PostgresStore): RegistryStore =>
  store.kind === "sqlite" ? onSqlite(store) : onPostgres(store);

function onSqlite(store: SqliteStore): RegistryStore {
  const { db } = store;
  const writer = new Writer(db);
  const query = sqliteQuery(db);
  const begin = db.prepare("begin");
  const commit = db.prepare("commit");
  return {
    kind: "sqlite",
    async read(flow) {
      begin.run();
      try {
        return runSync(flow(query));
      } finally {
        commit.run();
      }
    },
    peek: async (flow) => runSync(flow(query)),
    write: (flow) => writer.guarded(() => runSync(flow(query))),
  };
}

function sqliteQuery(db: Database): Peek {
  const runner = sqliteRunner();
  const inserts = new Map<string, Statement<Value[]>>();
  return {
    rows: (text, values = []) => runner(db, text, values as readonly Value[]),
    each<Row>(text: string, values: readonly (Value | ListValue)[], take: (row: Row) => void) {
      for (const row of runner<Row>(db, text, values as readonly Value[])) take(row);
    },
    among: (column) => `${column} in (select value from json_each(?))`,
    list: (values) => JSON.stringify(values),
    members: "json_each(?)",
    insert(table, columns, rows, conflict = "") {
      const names = columns.map(([name]) => name);
      const text = `insert into ${table} (${names.join(", ")}) values (${names.map(() => "?").join(", ")}) ${conflict}`;
      let statement = inserts.get(text);
      if (statement === undefined) {
        statement = db.prepare<Value[]>(text);
        inserts.set(text, statement);
      }
      for (const row of rows) statement.run(...row);
      return [];
    },
    // SQLite's plans follow from the statements here.
    analyze: () => [],
    lock: "",
  };
}

function onPostgres(store: PostgresStore): RegistryStore {
  const { db, pool } = store;
  const peek: Peek = {
    ...postgresQuery(db as unknown as Tx),
    each: (text, values, take) => postgresEach(pool, { text, values: values as readonly Value[], take }),
  };
  return {
    kind: "postgres",
    read: (flow) =>
      db
        .transaction()
        .setIsolationLevel("repeatable read")
        .setAccessMode("read only")
        .execute((tx) => run(flow(postgresQuery(tx)))),
    peek: (flow) => run(flow(peek)),
    write: (flow) => db.transaction().execute((tx) => run(flow(postgresQuery(tx)))),
  };
}

const postgresQuery = (tx: Tx): Query => ({
  rows: (text, values = []) => postgresRunner(tx, text, values as readonly Value[]),
  among: (column, type) => `${column} = any(?::${type}[])`,
  list: (values) => values,
  members: "json_each_text(?::json)",
  insert(table, columns, rows, conflict = "") {
    if (rows.length === 0) return [];
    const names = columns.map(([name]) => name).join(", ");
    const lists = columns.map(([, type]) => `?::${type}[]`).join(", ");
    const values = columns.map(([, type], index) =>
      binaryArray(
        type,
        rows.map((row) => row[index] as Value),
      ),
    );
    const text = `insert into ${table} (${names}) select * from unnest(${lists}) ${conflict}`;
    return postgresRunner(tx, text, values as unknown as Value[]);
  },
  analyze: (tables) => postgresRunner(tx, `analyze ${tables.join(", ")}`, []),
  lock: " for update",
});
