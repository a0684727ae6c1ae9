/** A connection whose answers can be forgotten as soon as they are read, and how it is asked. */
import type pg from "pg";
import { postgres } from "./driver.js";
import type { Primary } from "./hosts.js";
import { isNameFault, isStale, knownName } from "./kept.js";

type Answered = (error: Error | null, result: pg.QueryResult) => void;
type AnyQuery = (this: pg.Client, config: unknown, values?: unknown, answered?: Answered) => unknown;

const driver = postgres.load();

const asked = driver.Client.prototype.query as unknown as AnyQuery;

/** Whether connections keep statements under names. */
export interface Keeping {
  on: boolean;
}

/** How long a plan is used at least, in statements and in milliseconds. */
const REPLAN_STATEMENTS = 64;
const REPLAN_MS = 1_000;

const UNLIMITED = { ms: Number.POSITIVE_INFINITY };

/** A server that is frozen never says goodbye: a connection that is given up is closed after this long, in milliseconds. */
const GOODBYE_MS = 2_000;

export interface PostgresClientConfig extends pg.ClientConfig {
  /** Where the URL names several servers: which of them takes writes now. */
  readonly primary?: Primary | undefined;
}

type Connected = (error?: Error | null) => void;

/**
 * Asks with callbacks only. Of a query asked for a promise, pg 8.23 keeps what the collector takes for a link to the next
 * one: an answer that has once outlived a small collection keeps the later ones until a full one. Answers of hundreds of
 * kilobytes made each small collection copy megabytes, and stop the process for 20 milliseconds.
 */
export class PostgresClient extends driver.Client {
  /** How long an answer may take before the connection is given up, in milliseconds; all of a pool share one. */
  deadline: { readonly ms: number } = UNLIMITED;
  /** Whether statements are kept under names: where connections are ours alone. All of a pool share one. */
  keeping: Keeping = { on: false };
  /** An answer did not come in time: its server is frozen, or out of reach. */
  overdue = false;
  readonly #primary: Primary | undefined;
  /** Kept statements that ran since their plans were made, and when that was, by the process's clock. */
  #ran = 0;
  #planned = performance.now();

  constructor(config?: PostgresClientConfig) {
    super(config);
    this.#primary = config?.primary;
  }

  /** Connects to whichever server takes writes, where there are several. */
  override connect(): Promise<this>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<this> | undefined {
    const connecting = this.#connect();
    if (connected === undefined) return connecting;
    connecting.then(() => connected(), connected);
    return undefined;
  }

  async #connect(): Promise<this> {
    const primary = this.#primary;
    if (primary !== undefined) Object.assign(this, await primary.find());
    await super.connect();
    if (primary === undefined) return this;
    try {
      await primary.check(this);
      return this;
    } catch (error) {
      this.end().catch(() => undefined);
      throw error;
    }
  }

  override end(): Promise<void>;
  override end(ended: (error: Error) => void): void;
  override end(ended?: (error: Error) => void): Promise<void> | undefined {
    const { stream } = this.connection;
    const late = setTimeout(() => stream.destroy(), GOODBYE_MS);
    stream.once("close", () => clearTimeout(late));
    if (stream.destroyed) clearTimeout(late);
    if (ended === undefined) return super.end();
    super.end(ended);
    return undefined;
  }

  /** Has kept statements planned again, now and then: a plan that was made while a table was empty reads all of it later. */
  async replan(): Promise<void> {
    this.#ran += 1;
    const now = performance.now();
    if (this.#ran < REPLAN_STATEMENTS || now - this.#planned < REPLAN_MS) return;
    this.#ran = 0;
    this.#planned = now;
    await this.query("discard plans");
  }
}

PostgresClient.prototype.query = function query(this: pg.Client, config: unknown, values?: unknown, given?: Answered) {
  const submits = typeof (config as { submit?: unknown } | null)?.submit === "function";
  if (submits || typeof values === "function" || given !== undefined) return asked.call(this, config, values, given);
  return new Promise((resolve, reject) => {
    asked.call(this, config, values, (error, result) => (error ? reject(error) : resolve(result)));
  });
} as unknown as typeof pg.Client.prototype.query;

/** PostgreSQL's 64-bit integer. */
const INT8_OID = 20;

/**
 * Our 64-bit columns are milliseconds, counts and ids: a number carries them exactly. Given with each statement, so that it
 * makes no difference how a connection of somebody else's reads them.
 */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8_OID ? Number : driver.types.getTypeParser(oid, format as "text"),
};

/**
 * Ends a connection whose answer does not come. The server's own timeouts hold while it can be reached; a network that
 * swallows packets would keep a statement, and its connection, for as long as the system retries.
 * @returns stops it
 */
export function deadlineOf(client: pg.ClientBase): () => void {
  if (!(client instanceof PostgresClient) || !Number.isFinite(client.deadline.ms)) return () => undefined;
  const timer = setTimeout(() => {
    client.overdue = true;
    client.end().catch(() => undefined);
  }, client.deadline.ms);
  return () => clearTimeout(timer);
}

/** Runs work whose statements may take as long as they take. */
export async function unlimited<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  if (!(client instanceof PostgresClient)) return work();
  const { deadline } = client;
  client.deadline = UNLIMITED;
  try {
    return await work();
  } finally {
    client.deadline = deadline;
  }
}

/** Runs one statement on a connection, ours or somebody else's. */
export async function ask<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  text: string,
  values: readonly unknown[] = [],
): Promise<pg.QueryResult<Row>> {
  const answered = deadlineOf(client);
  const name = client instanceof PostgresClient && client.keeping.on ? knownName(text) : undefined;
  const statement = { text, values: values as unknown[], types };
  try {
    if (name === undefined) return await client.query<Row>(statement);
    try {
      await (client as PostgresClient).replan();
      return await client.query<Row>({ ...statement, name });
    } catch (error) {
      // A pooler after all, which passes on how connections are made; or a migration, which the next connection knows of.
      if (isNameFault(error)) (client as PostgresClient).keeping.on = false;
      else if (isStale(error)) (client as PostgresClient).keeping = { on: false };
      else throw error;
      // Within a transaction the server undoes all of it.
      if (client.getTransactionStatus() !== "I") throw error;
      return await client.query<Row>(statement);
    }
  } finally {
    answered();
  }
}
