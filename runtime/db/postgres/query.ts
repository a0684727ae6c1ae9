/** Statements on PostgreSQL, on a connection of ours or within a transaction of somebody else's. */
import { type Coroutine, wait } from "../coroutine.js";
import type { Columns, Dialect, ListValue, Query, Value } from "../types.js";
import { binaryArray } from "./binary-array.js";
import { CLOCK } from "./clock.js";
import { HIDDEN_TABLES } from "./hidden.js";
import { kept, numberedText } from "./kept.js";

export const dialect: Dialect = {
  engine: "postgres",
  among: (column, type) => `${column} = any(?::${type}[])`,
  list: (values) => values,
  members: "json_each_text(?::json)",
  undated: (table) => `${table}_default`,
  forUpdate: " for update",
  forUpdateFree: " for update skip locked",
  forShare: " for share",
  turns: false,
  remote: true,
  clock: CLOCK,
  hiddenTables: HIDDEN_TABLES,
};

export interface StatementResult {
  readonly rows: unknown[];
  /** Rows inserted, changed or removed. */
  readonly rowCount: number | null;
}

/** Runs a statement, with `$1`, `$2` ... for values. */
export type Ask = (text: string, values: readonly unknown[]) => Promise<StatementResult>;

type Values = readonly (Value | ListValue)[];

const columnOf = (rows: readonly (readonly Value[])[], index: number): readonly Value[] =>
  rows.map((row) => row[index] as Value);

/** Columns of many rows as arrays: one statement whatever their number, and the same text for all numbers. */
const arraysOf = (columns: Columns, rows: readonly (readonly Value[])[]): Buffer[] =>
  columns.map(([, type], index) => binaryArray(type, columnOf(rows, index) as readonly (string | number | null)[]));

const unnested = (columns: Columns): string => `unnest(${columns.map(([, type]) => `?::${type}[]`).join(", ")})`;
const namesOf = (columns: Columns): string => columns.map(([name]) => name).join(", ");

/** First of the two numbers of our locks: those of others have another, or are one number. */
const LOCK_SPACE = 1_633_969_259;

export class PostgresQuery implements Query {
  readonly dialect = dialect;

  constructor(readonly ask: Ask) {}

  *rows<Row>(text: string, values: Values = []): Coroutine<Row[]> {
    return (yield* wait(this.ask(numberedText(text), values))).rows as Row[];
  }

  *run(text: string, values: Values = []): Coroutine<number> {
    return (yield* wait(this.ask(numberedText(text), values))).rowCount ?? 0;
  }

  *insert(table: string, columns: Columns, rows: readonly (readonly Value[])[], conflict = ""): Coroutine<number> {
    if (rows.length === 0) return 0;
    const text = kept(`insert into ${table} (${namesOf(columns)}) select * from ${unnested(columns)} ${conflict}`);
    return (yield* wait(this.ask(numberedText(text), arraysOf(columns, rows)))).rowCount ?? 0;
  }

  *remove(table: string, columns: Columns, rows: readonly (readonly Value[])[]): Coroutine<void> {
    if (rows.length === 0) return;
    const names = namesOf(columns);
    const same = columns.map(([name]) => `i.${name} = gone.${name}`).join(" and ");
    const text = `delete from ${table} i using ${unnested(columns)} as gone (${names}) where ${same}`;
    yield* wait(this.ask(numberedText(text), arraysOf(columns, rows)));
  }

  *analyze(tables: readonly string[]): Coroutine<void> {
    yield* wait(this.ask(`analyze ${tables.join(", ")}`, []));
  }

  *lock(name: string): Coroutine<void> {
    // Of the transaction, never of the session: behind a pooler a session is not ours.
    yield* wait(this.ask("select pg_advisory_xact_lock($1, hashtext($2))", [LOCK_SPACE, name]));
  }

  *share(name: string): Coroutine<void> {
    yield* wait(this.ask("select pg_advisory_xact_lock_shared($1, hashtext($2))", [LOCK_SPACE, name]));
  }

  *tryLock(name: string): Coroutine<boolean> {
    const text = "select pg_try_advisory_xact_lock(?, hashtext(?)) as free";
    return (yield* this.rows<{ free: boolean }>(text, [LOCK_SPACE, name]))[0]!.free;
  }

  *notify(channel: string, payload: string): Coroutine<void> {
    yield* wait(this.ask("select pg_notify($1, $2)", [channel, payload]));
  }
}
