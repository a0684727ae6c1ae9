/**
 * One database, whatever engine is underneath. Statements are written once, with `?` for each value; what engines write
 * differently is asked of their `Dialect`. Statements are coroutines: they run at once inside SQLite's synchronous
 * transactions and wait on a server. 64-bit integers are numbers here, however the connection reads them: ours are
 * milliseconds, counts and ids, which a number carries exactly.
 */

import type { MaybePromise } from "../contract/index.js";
import type { AccessOptions } from "./access.js";
import type { Coroutine } from "./coroutine.js";

/** What a statement takes for one `?`. */
export type Value = string | number | null | Uint8Array;

/** A list as one value, made by `Dialect.list`. */
export type ListValue = string | readonly Value[];

/** A type of a column that every engine has. */
export type ColumnType = "bigint" | "text" | "double precision";
/** Columns of many rows at once; `bigint` for every integer. */
export type Columns = readonly (readonly [name: string, type: ColumnType])[];

/** What the schema's function `adbind_add_jobs` is given. */
export interface JobAddition {
  readonly topic: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** JSON of an array; bodies apart, since it takes long to read them as JSON. */
  readonly jobs: string;
  /** With U+001E between: those that are plain as they are, others in base64. */
  readonly bodies: string;
  /** Workers are to be notified as the transaction commits. */
  readonly notifies: boolean;
}

/** What engines write differently. Texts go into statements as they are. */
export interface Dialect {
  /** Whose it is: what has a text for each engine, in a file of the engine's folder, looks it up by this. */
  readonly engine: string;
  /** Condition that a column is in a list that is given as one `?`. */
  among(column: string, type: ColumnType): string;
  /** The value for the `?` of `among`. */
  list(values: readonly Value[]): ListValue;
  /** Table of the members of a JSON object of texts given as one `?`; its columns are `key` and `value`. */
  readonly members: string;
  /**
   * What of a table by days is deleted row by row: the rows that no day takes along when it is dropped. All of it where tables
   * have no days.
   */
  undated(table: string): string;
  /** `for update` where rows are locked one by one; empty where transactions exclude each other. */
  readonly forUpdate: string;
  /** The same, and waits for none: rows that another transaction holds are left out. */
  readonly forUpdateFree: string;
  /** `for share` where rows are locked one by one: who reads so waits for who changes it, and not for others who read. */
  readonly forShare: string;
  /** Transactions that write take turns: none ever ends while another is open. */
  readonly turns: boolean;
  /** Each statement is a journey to a server: what can be done in one is. */
  readonly remote: boolean;
  /**
   * Unix milliseconds by the clock that all who share the database go by, as an expression: leases are judged by it, since clocks of
   * machines differ.
   */
  readonly clock: string;
  /**
   * Names of tables of ours, with commas between, whose rows the server hides from whoever asks, all of them and without an error;
   * null where there are none. Undefined where no table can be hidden.
   */
  readonly hiddenTables?: string;
}

/** How rows that another transaction holds are met: waited for, or left out so that nobody else waits with them. */
export type Locking = "wait" | "skip";

/** Statements of one transaction. */
export interface Query {
  readonly dialect: Dialect;
  /**
   * Runs a statement and answers its rows.
   * @param text with `?` for each value
   */
  rows<Row>(text: string, values?: readonly (Value | ListValue)[]): Coroutine<Row[]>;
  /** Runs a statement. @returns the number of rows it inserted, changed or removed */
  run(text: string, values?: readonly (Value | ListValue)[]): Coroutine<number>;
  /** Inserts many rows, in their order. @param conflict the `on conflict` clause @returns how many were inserted, or changed by that clause */
  insert(table: string, columns: Columns, rows: readonly (readonly Value[])[], conflict?: string): Coroutine<number>;
  /** Removes many rows, each looked up by all of `columns`. */
  remove(table: string, columns: Columns, rows: readonly (readonly Value[])[]): Coroutine<void>;
  /** Has the engine look at tables that grew at once: it plans by what it last saw of them, and would look too late. */
  analyze(tables: readonly string[]): Coroutine<void>;
  /** Waits for its turn under a name, and holds it to the end of the transaction. */
  lock(name: string): Coroutine<void>;
  /** The same beside others who share the name: who takes it for itself waits for all of them. */
  share(name: string): Coroutine<void>;
  /** As `lock` where nobody has to be waited for. @returns whether it was */
  tryLock(name: string): Coroutine<boolean>;
  /** Tells whoever listens on a channel, of any instance, when the transaction has committed. @param payload under 8,000 bytes */
  notify(channel: string, payload: string): Coroutine<void>;
}

/** Statements that stand for themselves: each is its own transaction, or needs none. */
export interface Statements extends Query {
  /**
   * Takes rows one by one as they come: a caller that works on each has done so when the last is there.
   * @param take what it throws ends the statement
   */
  each<Row>(text: string, values: readonly (Value | ListValue)[], take: (row: Row) => void): Coroutine<void>;
}

/** How far the schema of a database is. */
export interface SchemaStatus {
  /** Steps that are applied, oldest first; `known` false for those of a newer adbind. */
  readonly applied: readonly { readonly version: number; readonly name: string; readonly known: boolean }[];
  /** Steps that are not applied yet. */
  readonly missing: readonly { readonly version: number; readonly name: string }[];
}

/** Which days to have partitions for. */
export interface PartitionsRequest {
  /** Unix milliseconds; by default the clock of the database's server. */
  readonly now?: number;
  /** Days made ahead, today's not counted. */
  readonly days: number;
  /** Days the activity of a sender is kept: its rows are in the partitions of the days they expire on. */
  readonly activityDays: number;
}

/** A partition that is not as it was to be: not made, not dropped, or not without all of its rows. */
export interface PartitionLeft {
  readonly name: string;
  /** In words. */
  readonly why: string;
}

/** Names of partitions. */
export interface PartitionsKept {
  readonly made: readonly string[];
  readonly dropped: readonly string[];
  readonly left: readonly PartitionLeft[];
}

/**
 * A database, opened. `Tx` is what the engine's own library calls a connection: the `Database` of better-sqlite3, a client
 * of `pg`; an application writes to its own tables by it.
 */
export interface Database<Tx = unknown> {
  /** Name of the engine, for messages and metrics; what depends on it is the dialect's. */
  readonly engine: string;
  /** The database, without credentials, for messages. */
  readonly where: string;
  readonly dialect: Dialect;
  /** Instances on several machines may have it open. */
  readonly shared: boolean;
  /** Statements that all see one state of the database, and write nothing. */
  read<T>(work: (query: Query) => Coroutine<T>): Promise<T>;
  /** One statement that reads, or several that need not agree. */
  query<T>(work: (query: Statements) => Coroutine<T>): Promise<T>;
  /**
   * One statement that changes something, by itself; durable when it answers.
   * @param text with `?` for each value
   * @returns the rows it says it returns
   * @throws AdbindError `database_busy` as `write`
   */
  execute<Row>(text: string, values?: readonly (Value | ListValue)[]): Promise<Row[]>;
  /**
   * One transaction; durable when it answers, undone when `work` throws, which is what it then rejects with. On SQLite
   * `work` runs within a turn of the event loop, and may share its transaction with other writes of this process.
   * @throws AdbindError `database_busy` when another writer held the database, or a row, for too long
   */
  write<T>(work: (query: Query, tx: Tx) => Coroutine<T>): Promise<T>;
  /**
   * Part of a transaction of somebody else's: nothing is begun or committed here.
   * @returns on SQLite no promise
   * @throws AdbindError `transaction_invalid` as {@link join}
   */
  within<T>(tx: Tx, work: (query: Query) => Coroutine<T>): MaybePromise<T>;
  /** The statements of a transaction of somebody else's, for coroutines that run already. */
  statements(tx: Tx): Query;
  /**
   * The statements of a transaction of the application's, in whatever its own library calls one: see docs/outbox.md.
   * @param anywhere it may be of another database, of which it is then asked
   * @throws AdbindError `transaction_invalid` for what is no open transaction, where each statement would commit alone, and
   * for one of another database, file or schema than this
   */
  join(tx: unknown, anywhere?: boolean): Coroutine<Query>;
  /**
   * Calls `listener` for each `notify` on a channel, and with no payload when some may have been missed. Where the engine
   * cannot be listened to (behind a transaction pooler, with no second URL), it is never called: who waits polls as well.
   * @returns stops it
   */
  onNotify(channel: string, listener: (payload?: string) => void): () => void;
  /** Applies what is missing of the schema; instances that do it together take turns. @returns names of what was applied */
  migrate(): Promise<readonly string[]>;
  status(): Promise<SchemaStatus>;
  /**
   * Makes the partitions of days to come, and drops those that are over, but for what is still needed of them. Takes two
   * connections.
   * @throws AdbindError `database_busy` where a transaction is left open, or somebody else does the same
   */
  partitions(request: PartitionsRequest): Promise<PartitionsKept>;
  /**
   * Has this process be the only one that does something on a database that is not shared, until it ends, however that is; where
   * it is shared, any number may. One that is about to end is waited for, as long as one that writes is.
   * @param what names that in one word, such as `registry`
   * @param waits told once when another process is that
   * @returns lets others be it
   * @throws AdbindError `database_busy` where another process goes on being that
   */
  sole(what: string, waits: () => void): Promise<() => void>;
  /**
   * Makes a whole copy of the database, also while others write. The file is its owner's alone, and is on the disk when this is over.
   * @param file that is not there yet; what is there of one that could not be made is removed
   * @throws AdbindError `usage` for a server's database, which its own tools copy; `database_unreachable` where the file cannot be
   * written
   */
  copy(file: string): Promise<void>;
  /** Commits what was asked for and lets go of the database. */
  close(): Promise<void>;
}

/** Options of every engine. */
export interface DatabaseOptions extends AccessOptions {
  /**
   * Default true: the schema is brought to this version at once, which takes a role that may create tables unless nothing
   * is missing. False: nothing is created, a file neither, and what is missing is an error that says how to apply it.
   * `skip`: nothing is created or looked for; for what is about the schema itself.
   */
  readonly migrate?: boolean | "skip";
  /** PostgreSQL: a second URL of the same database, without a pooler in front, to be notified by. */
  readonly listenUrl?: string;
}
