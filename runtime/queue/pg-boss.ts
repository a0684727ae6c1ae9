/**
 * The queue of many machines: pg-boss on the store's PostgreSQL. A job is made in the transaction that makes its row;
 * taking is pg-boss's claim, living is its heartbeat, and what a dead worker held comes back through its supervisor.
 */
import { PgBoss } from "pg-boss";
import type { PostgresStore } from "../store/postgres/open.js";
import type { Tx } from "../store/postgres/tables.js";
import { BossQueue } from "./boss-queue.js";
import type { Queue } from "./types.js";

export interface BossQueueOptions {
  /** Unix milliseconds; the system clock by default. Claims are judged by the database's own clock. */
  readonly now?: () => number;
  /** PostgreSQL schema of pg-boss. Default `adbind_boss`. */
  readonly schema?: string;
}

/** Without news of a worker for this long its claims lapse, in seconds: pg-boss's minimum. */
const HEARTBEAT_SECONDS = 10;
/** How often lapsed claims are looked for, in seconds. With the heartbeat: well under the promised 30. */
const SUPERVISE_SECONDS = 5;
/** A claim that is renewed may last this long, in seconds: pg-boss's maximum. */
const EXPIRE_SECONDS = 86_399;
/** pg-boss counts each claim of a dead worker; a job must never end by it. */
const CLAIM_LIMIT = 1_000_000;
/** For pg-boss's own look-ups and its supervisor; jobs go over the store's connections. */
const BOSS_CONNECTIONS = 2;

/**
 * Opens a queue on a PostgreSQL store; instances share it. pg-boss keeps its tables in a schema of its own.
 * @param topic name of its jobs
 */
export async function openBossQueue(
  store: PostgresStore,
  topic: string,
  options: BossQueueOptions = {},
): Promise<Queue<Tx>> {
  const { schema = "adbind_boss" } = options;
  const boss = new PgBoss({
    // Connections of its own: what it looks up inside a transaction must not wait for those that wait for it.
    connectionString: store.pool.options.connectionString as string,
    max: BOSS_CONNECTIONS,
    schema,
    schedule: false,
    supervise: true,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    persistWarnings: false,
  });
  // Its background work is tried again by itself; without a listener a lost connection would end the process.
  boss.on("error", () => undefined);
  boss.on("warning", () => undefined);
  await inTurns(store, async () => {
    await boss.start();
    await boss.createQueue(topic, {
      retryLimit: CLAIM_LIMIT,
      expireInSeconds: EXPIRE_SECONDS,
      heartbeatSeconds: HEARTBEAT_SECONDS,
    });
  });
  return new BossQueue(store, boss, { topic, schema, now: options.now ?? Date.now });
}

/** Any fixed number: instances that start together take turns on it. */
const START_LOCK = 4_221_093_118;

/** Longest wait for the turn, in milliseconds: several first starts, each of which makes a schema. */
const START_MS = 60_000;

/** pg-boss's own lock does not keep two first starts from both making its schema. */
const inTurns = ({ database }: PostgresStore, work: () => Promise<void>): Promise<void> =>
  database.transaction(async (tx) => {
    await tx.query(`set local lock_timeout = ${START_MS}; set local idle_in_transaction_session_timeout = ${START_MS}`);
    await tx.query("select pg_advisory_xact_lock($1)", [START_LOCK]);
    await work();
  });
