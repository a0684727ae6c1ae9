/** Statements on SQLite: prepared once, run at once, never a promise. */
import type { Database, Statement } from "better-sqlite3";
import type { Coroutine } from "../coroutine.js";
import type { Columns, Dialect, ListValue, Statements, Value } from "../types.js";

export const dialect: Dialect = {
  engine: "sqlite",
  among: (column) => `${column} in (select value from json_each(?))`,
  list: (values) => JSON.stringify(values),
  members: "json_each(?)",
  undated: (table) => table,
  forUpdate: "",
  forUpdateFree: "",
  forShare: "",
  turns: true,
  remote: false,
  // The days since 4714 BC, of which 2,440,587.5 are before 1970: every library's SQLite has it.
  clock: "cast((julianday('now') - 2440587.5) * 86400000 as integer)",
};

/** Tells listeners of this process; another process that has the file open finds what is new by looking. */
export class LocalNotifications {
  readonly #listeners = new Map<string, Set<(payload?: string) => void>>();

  on(channel: string, listener: (payload?: string) => void): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Transactions are synchronous: by the next turn of the event loop this one has ended. */
  tell(channel: string, payload: string): void {
    const listeners = this.#listeners.get(channel);
    if (listeners !== undefined && listeners.size > 0)
      setImmediate(() => {
        for (const listener of listeners) listener(payload);
      });
  }

  clear(): void {
    for (const listeners of this.#listeners.values()) listeners.clear();
  }
}

type Values = readonly (Value | ListValue)[];

export class SqliteQuery implements Statements {
  readonly dialect = dialect;
  readonly #prepared = new Map<string, Statement<unknown[]>>();

  constructor(
    readonly db: Database,
    readonly notifications: LocalNotifications,
  ) {}

  // biome-ignore lint/correctness/useYield: a statement of SQLite never waits
  *rows<Row>(text: string, values: Values = []): Coroutine<Row[]> {
    return this.#all(text, values) as Row[];
  }

  // biome-ignore lint/correctness/useYield: as above
  *run(text: string, values: Values = []): Coroutine<number> {
    const statement = this.#prepare(text);
    return statement.reader ? statement.all(...values).length : statement.run(...values).changes;
  }

  // biome-ignore lint/correctness/useYield: as above
  *each<Row>(text: string, values: Values, take: (row: Row) => void): Coroutine<void> {
    for (const row of this.#all(text, values)) take(row as Row);
  }

  *insert(table: string, columns: Columns, rows: readonly (readonly Value[])[], conflict = ""): Coroutine<number> {
    const names = columns.map(([name]) => name);
    const marks = names.map(() => "?").join(", ");
    const statement = this.#prepare(`insert into ${table} (${names.join(", ")}) values (${marks}) ${conflict}`);
    let inserted = 0;
    for (const row of rows) inserted += statement.run(...row).changes;
    return inserted;
  }

  *remove(table: string, columns: Columns, rows: readonly (readonly Value[])[]): Coroutine<void> {
    const names = columns.map(([name]) => name).join(", ");
    const members = columns.map((_, at) => `json_extract(value, '$[${at}]')`).join(", ");
    this.#prepare(`delete from ${table} where (${names}) in (select ${members} from json_each(?))`).run(
      JSON.stringify(rows),
    );
  }

  // SQLite's plans follow from the statements here.
  *analyze(): Coroutine<void> {}

  // One transaction writes at a time.
  *lock(): Coroutine<void> {}

  *share(): Coroutine<void> {}

  // biome-ignore lint/correctness/useYield: writers take turns
  *tryLock(): Coroutine<boolean> {
    return true;
  }

  // biome-ignore lint/correctness/useYield: as above
  *notify(channel: string, payload: string): Coroutine<void> {
    this.notifications.tell(channel, payload);
  }

  #prepare(text: string): Statement<unknown[]> {
    let statement = this.#prepared.get(text);
    if (statement === undefined) {
      // Our integers are milliseconds, counts and ids: numbers carry them, however an application's handle reads its own.
      statement = this.db.prepare<unknown[]>(text).safeIntegers(false);
      this.#prepared.set(text, statement);
    }
    return statement;
  }

  #all(text: string, values: Values): unknown[] {
    const statement = this.#prepare(text);
    if (statement.reader) return statement.all(...values);
    statement.run(...values);
    return [];
  }
}
