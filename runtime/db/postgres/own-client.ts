/** A connection whose answers can be forgotten as soon as they are read. What loads this has loaded the driver. */
import type pg from "pg";
import { claimClient, type Keeping, noteBroken, type OwnClient, UNLIMITED } from "./client.js";
import { postgres } from "./driver.js";
import type { Primary } from "./hosts.js";

const driver = postgres.load();

type Answered = (error: Error | null, result: pg.QueryResult) => void;
type AnyQuery = (this: pg.Client, config: unknown, values?: unknown, answered?: Answered) => unknown;

const asked = driver.Client.prototype.query as unknown as AnyQuery;

/** How long a plan is used at least, in statements and in milliseconds. */
const REPLAN_STATEMENTS = 64;
const REPLAN_MS = 1_000;

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
export class PostgresClient extends driver.Client implements OwnClient {
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
    claimClient(this);
    // One that breaks while nothing is asked, between two statements, or as it has just connected would end the process; the
    // next statement tells. What waited for an answer fails with the same error, after this.
    this.on("error", noteBroken);
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
