/** Connections with their timeouts, and the transactions on them. */
import type pg from "pg";
import { AdbindError } from "../../errors.js";
import { Checkout } from "./checkout.js";
import { ask, type Keeping, types } from "./client.js";
import { postgres } from "./driver.js";
import { decidingSettings, optionsRefused, refuseDropped, SETTINGS_NOW } from "./dropped-options.js";
import { isDisconnected, isUnsent, toldFault, unreachable } from "./faults.js";
import { namedHosts, Primary } from "./hosts.js";
import type { PostgresOptions } from "./options.js";
import { PostgresClient, type PostgresClientConfig } from "./own-client.js";
import { HAS_OURS, LEVEL, LITERAL } from "./session.js";

const { Client, Pool } = postgres.load();

const CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 30_000;
const LOCK_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;
/** Beyond the server's own timeout, in milliseconds: the answer of a server that can be reached comes sooner. */
const DEADLINE_SLACK_MS = 10_000;

/** A setting of our own: a connection that has it was made with all that we asked for. */
const MARK = "adbind.direct";

interface Timeouts {
  readonly statement_timeout: number;
  readonly lock_timeout: number;
  readonly idle_in_transaction_session_timeout: number;
}

export interface TransactionOptions {
  /** Statement that begins it. */
  readonly begin?: string;
  /** Longest wait for a row that another transaction holds, in milliseconds; the database's own by default. */
  readonly lockTimeoutMs?: number | undefined;
}

export interface Connections {
  readonly where: string;
  readonly pool: pg.Pool;
  readonly pooled: boolean;
  /** Longest wait for a row that another transaction holds, in milliseconds. */
  readonly lockTimeoutMs: number;
  /**
   * Runs `work`, which is one statement, on a connection: it is its own transaction.
   * @param first one outside the pool, which is asked where it can be
   */
  use<T>(work: (client: pg.ClientBase) => Promise<T>, first?: pg.ClientBase): Promise<T>;
  transaction<T>(work: (tx: pg.ClientBase) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Statements that write nothing, as one transaction: begun once more where its connection is lost. */
  snapshot<T>(work: (tx: pg.ClientBase) => Promise<T>): Promise<T>;
  /** A connection outside the pool, made alike. */
  configOf(url: string): PostgresClientConfig;
}

/**
 * Makes the pool, and finds out whether a pooler stands in front of the server: timeouts are given as the connection is
 * made, and one that pools by transaction refuses them (PgBouncer, Amazon's RDS Proxy) or drops them. Then each transaction brings its own.
 * @throws AdbindError `database_unreachable`
 */
export async function openConnections(options: PostgresOptions): Promise<Connections> {
  const timeouts: Timeouts = {
    statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    lock_timeout: options.lockTimeoutMs ?? LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
  };
  const where = whereOf(options.url);
  const slack = options.deadlineSlackMs ?? DEADLINE_SLACK_MS;
  const deadline: Deadline = { ms: timeouts.statement_timeout + slack };
  const keeping: Keeping = { on: false };
  for (const given of [timeouts, undefined]) {
    const pool = poolOf(options, given, { deadline, keeping });
    try {
      const asked = decidingSettings(namedHosts(options.url).url);
      const { direct, statementMs, ours, encoding, settings } = await lookAt(pool, [...asked.keys()]);
      refuseEncoding(encoding, where);
      if (!direct) refuseDropped(asked, settings ?? {}, where);
      // What the URL says wins; behind a pooler it is the role's, for statements outside of transactions.
      if (direct) deadline.ms = statementMs === 0 ? Number.POSITIVE_INFINITY : statementMs + slack;
      else deadline.ms = Math.max(timeouts.statement_timeout, statementMs) + slack;
      keeping.on = direct;
      return connectionsOn(pool, { where, options, timeouts, pooled: !direct, ours });
    } catch (error) {
      await pool.end();
      if (given === undefined || optionsRefused(error) === undefined) throw unreachable(where, error);
    }
  }
  throw new TypeError("unreachable");
}

interface Found {
  /** The connection was made with all that we asked for. */
  readonly direct: boolean;
  /** How long a statement may take; 0: for ever. */
  readonly statementMs: number;
  /** A statement that is its own transaction has the isolation and the values that ours count on. */
  readonly ours: boolean;
  readonly encoding: string;
  /** Those that were named, as they are; null where none was. */
  readonly settings: Readonly<Record<string, string | null>> | null;
}

async function lookAt(pool: pg.Pool, names: readonly string[]): Promise<Found> {
  const text = `select current_setting('${MARK}', true) as mark, ${SETTINGS_NOW} as settings, setting as ms, (${HAS_OURS}) as ours,
    current_setting('server_encoding') as encoding from pg_settings where name = 'statement_timeout'`;
  const { rows } = await pool.query<Omit<Found, "direct" | "statementMs"> & { mark: string | null; ms: string }>(text, [
    names,
  ]);
  const { mark, ms, ...found } = rows[0]!;
  return { direct: mark === "on", statementMs: Number(ms), ...found };
}

/** Those that hold every character; the second one looks at none. */
const WHOLE_ENCODINGS: readonly string[] = ["UTF8", "SQL_ASCII"];

/** Before anything is stored: an event would fail in the middle of its application's transaction, at the first name that has one. */
function refuseEncoding(encoding: string, where: string): void {
  if (WHOLE_ENCODINGS.includes(encoding)) return;
  throw new AdbindError("store_option_invalid", `the database's encoding is ${encoding}, which lacks most characters`, {
    where,
    remedy: "make a database for it with encoding UTF8 (create database NAME encoding 'UTF8' template template0)",
  });
}

/** Host, port and database. @throws AdbindError `store_option_invalid` for what is no URL of PostgreSQL */
function whereOf(url: string): string {
  try {
    const { url: first, told } = namedHosts(url);
    const { host, port, database } = new Client({ connectionString: first });
    return `${told === "" ? `${host}:${port}` : told}/${database ?? ""}`;
  } catch (cause) {
    if (cause instanceof AdbindError) throw cause;
    const remedy = "give postgres://user:password@host:port/database";
    throw new AdbindError("store_option_invalid", "the URL of the database cannot be read", { remedy, cause });
  }
}

/** Timeouts as parameters of a connection; what the URL says of `options` comes after ours, and wins. */
function startupOptions(url: string, timeouts: Timeouts): string {
  const given = new URL(url, "postgres://localhost").searchParams.get("options") ?? "";
  const ours = Object.entries(timeouts).map(([name, value]) => `-c ${name}=${value}`);
  const level = `-c default_transaction_isolation=${LEVEL.replace(" ", "\\ ")}`;
  const literal = Object.entries(LITERAL).map(([name, value]) => `-c ${name}=${value}`);
  return [...ours, level, ...literal, `-c ${MARK}=on`, given].join(" ").trim();
}

function configOf(given: string, options: PostgresOptions, timeouts: Timeouts | undefined): PostgresClientConfig {
  const { url, hosts } = namedHosts(given);
  const bare = new URL(url, "postgres://localhost");
  bare.searchParams.delete("options");
  // In seconds, as libpq has it.
  const connectSeconds = Number(bare.searchParams.get("connect_timeout") ?? Number.NaN);
  const connectMs = connectSeconds > 0 ? connectSeconds * 1_000 : CONNECT_TIMEOUT_MS;
  const config = {
    connectionString: timeouts === undefined ? url : bare.href,
    connectionTimeoutMillis: options.connectTimeoutMs ?? connectMs,
    fallback_application_name: "adbind",
    keepAlive: true,
    types,
    ...(timeouts === undefined ? {} : { options: startupOptions(url, timeouts) }),
  };
  return hosts.length === 0 ? config : { ...config, primary: new Primary(hosts, config) };
}

/** Milliseconds until a connection that does not answer is given up. */
interface Deadline {
  ms: number;
}

function poolOf(
  options: PostgresOptions,
  timeouts: Timeouts | undefined,
  { deadline, keeping }: { readonly deadline: Deadline; readonly keeping: Keeping },
): pg.Pool {
  const pool = new Pool({
    ...configOf(options.url, options, timeouts),
    Client: PostgresClient,
    max: options.connections ?? CONNECTIONS,
  });
  // An idle connection that breaks is replaced at the next query; without a listener it would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => {
    if (!(client instanceof PostgresClient)) return;
    client.deadline = deadline;
    client.keeping = keeping;
  });
  return pool;
}

const SNAPSHOT = "begin isolation level repeatable read, read only";

interface Given {
  readonly where: string;
  readonly options: PostgresOptions;
  readonly timeouts: Timeouts;
  readonly pooled: boolean;
  readonly ours: boolean;
}

const settingLocally = (settings: Readonly<Record<string, string | number>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `; set local ${name} = ${value}`)
    .join("");

function connectionsOn(pool: pg.Pool, { where, options, timeouts, pooled, ours }: Given): Connections {
  const brought = pooled ? settingLocally({ ...timeouts, ...(ours ? {} : LITERAL) }) : "";
  const checkout = new Checkout(pool, where);

  const use = async <T>(work: (client: pg.ClientBase) => Promise<T>, first?: pg.ClientBase): Promise<T> => {
    const began = performance.now();
    try {
      return await (first === undefined ? checkout.use(work) : work(first).catch(ifUnsent(() => checkout.use(work))));
    } catch (error) {
      // A statement may bring a shorter limit of its own.
      throw toldFault(error, where, Math.min(timeouts.lock_timeout, Math.round(performance.now() - began)));
    }
  };

  const transaction = async <T>(
    work: (tx: pg.ClientBase) => Promise<T>,
    { begin = `begin isolation level ${LEVEL}`, lockTimeoutMs }: TransactionOptions = {},
  ): Promise<T> => {
    const patience = lockTimeoutMs === undefined ? "" : `; set local lock_timeout = ${lockTimeoutMs}`;
    const client = await checkout.begun(begin + brought + patience).catch((error: unknown) => {
      throw toldFault(error, where, lockTimeoutMs ?? timeouts.lock_timeout);
    });
    try {
      const value = await work(client);
      const { command } = await ask(client, "commit");
      // A statement failed and `work` went on without it: the server undid all of it.
      if (command !== "COMMIT") throw new Error("the transaction was undone, because a statement of it had failed");
      checkout.release(client, false);
      return value;
    } catch (error) {
      checkout.release(client, await undone(client), error);
      throw toldFault(error, where, lockTimeoutMs ?? timeouts.lock_timeout);
    }
  };

  // The pooler's connections are not ours to set: where they have something else a statement brings the right one along.
  const single: Connections["use"] = pooled && !ours ? (work) => transaction(work) : use;

  const snapshot = async <T>(work: (tx: pg.ClientBase) => Promise<T>): Promise<T> => {
    try {
      return await transaction(work, { begin: SNAPSHOT });
    } catch (error) {
      if (!isDisconnected(error)) throw error;
      return await transaction(work, { begin: SNAPSHOT });
    }
  };

  return {
    where,
    pool,
    pooled,
    lockTimeoutMs: timeouts.lock_timeout,
    use: single,
    transaction,
    snapshot,
    configOf: (url) => configOf(url, options, pooled ? undefined : timeouts),
  };
}

/** Goes on where the driver did not send a statement. */
const ifUnsent =
  <T>(other: () => Promise<T>) =>
  (error: unknown): Promise<T> => {
    if (isUnsent(error)) return other();
    throw error;
  };

/** @returns whether the connection cannot be used any more */
async function undone(client: pg.ClientBase): Promise<boolean> {
  try {
    await ask(client, "rollback");
    return false;
  } catch {
    return true;
  }
}
