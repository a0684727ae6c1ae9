/** Runs of a sender on PostgreSQL that say what its steps cost, and how it carries a load that comes by the clock. */
import pg from "pg";
import type { TestPostgres } from "../../test/support/postgres.js";
import { serverProcessor } from "./processor.js";
import type { BenchEvent, Producer } from "./queue-contender.js";
import { startWorkers, type Workers } from "./queue-workers.js";
import { ours } from "./sender-contender.js";
import { listening } from "./sender-prompt.js";

const CLIENTS = 8;
const ENDPOINTS = 50;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Prepared {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly producer: Producer;
  readonly tasks: readonly BenchEvent[];
  close(): Promise<void>;
}

async function prepared(cluster: TestPostgres, live: string, count: number): Promise<Prepared> {
  const url = await cluster.database();
  const tasks = Array.from({ length: count }, (_, at) => ({ task: `task-${at}`, url: `${live}/${at % ENDPOINTS}` }));
  const producer = await ours.produce({ url, tasks });
  const pool = new pg.Pool({ connectionString: url, max: CLIENTS });
  pool.on("error", () => undefined);
  const close = async (): Promise<void> => {
    await producer.close();
    await pool.end();
  };
  return { url, pool, producer, tasks, close };
}

const ownMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

async function stored({ pool, producer }: Prepared, event: BenchEvent): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await producer.store(client, [event]);
    await client.query("commit");
    return performance.now();
  } finally {
    client.release();
  }
}

const numberOf = async (pool: pg.Pool, what: string): Promise<number> =>
  Number((await pool.query<{ n: string }>(`select ${what} as n`)).rows[0]!.n);

const LOG = "pg_current_wal_lsn() - '0/0'::pg_lsn";
const SIZE = "pg_database_size(current_database())";

/** Each figure is of one event; times are processor milliseconds. */
export interface StepFigures {
  readonly storeMs: number;
  readonly applicationMs: number;
  readonly handOutMs: number;
  readonly deliverMs: number;
  /** This process's, for answering it. */
  readonly answerMs: number;
  readonly logBytes: number;
  readonly waitingBytes: number;
  readonly keptBytes: number;
  /** Deliveries a second, once everything was stored and nothing came any more. */
  readonly drainedPerSecond: number;
}

/** Stores events, then delivers them, and looks at what each side has taken. */
export async function stepFigures(cluster: TestPostgres, live: string, count: number): Promise<StepFigures> {
  const made = await prepared(cluster, live, count);
  const { pool, tasks } = made;
  const server = await serverProcessor(made.url);
  const compact = () => pool.query("vacuum full");
  await compact();
  const [size, log, database, own] = [await numberOf(pool, SIZE), await numberOf(pool, LOG), server(), ownMs()];
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < tasks.length) await stored(made, tasks[next++]!);
  };
  await Promise.all(Array.from({ length: CLIENTS }, one));
  const storedAt = { database: server(), own: ownMs(), log: await numberOf(pool, LOG) };
  await compact();
  const waiting = await numberOf(pool, SIZE);
  const logBetween = await numberOf(pool, LOG);
  const drained = await drainedOf(made.url, server, count);
  const logAfter = await numberOf(pool, LOG);
  await compact();
  const kept = await numberOf(pool, SIZE);
  await made.close();
  const each = (value: number): number => value / count;
  return {
    ...drained,
    storeMs: each(storedAt.database - database),
    applicationMs: each(storedAt.own - own),
    logBytes: each(storedAt.log - log + logAfter - logBetween),
    waitingBytes: Math.max(0, each(waiting - size)),
    keptBytes: Math.max(0, each(kept - size)),
  };
}

/** A process's first events cost several times what the later ones do, while its code is compiled: they are not measured. */
const COLD = 0.3;

/** A deliverer that has all it could want. */
async function drainedOf(
  url: string,
  server: () => number,
  count: number,
): Promise<Pick<StepFigures, "handOutMs" | "deliverMs" | "answerMs" | "drainedPerSecond">> {
  const workers = await startWorkers({ name: ours.name, url });
  workers.begin();
  const cold = Math.round(count * COLD);
  const warmAt = await workers.sent(cold);
  const [database, own, here] = [server(), workers.usedMs(), ownMs()];
  const endedAt = await workers.sent(count);
  const handOutMs = server() - database;
  const deliverMs = workers.usedMs() - own;
  const answerMs = ownMs() - here;
  await workers.stop();
  const each = (value: number): number => value / (count - cold);
  return {
    handOutMs: each(handOutMs),
    deliverMs: each(deliverMs),
    answerMs: each(answerMs),
    drainedPerSecond: 1_000 / each(endedAt - warmAt),
  };
}

export interface Carried {
  /** Arrivals a second while events came, but for the first fifth of the time. */
  readonly perSecond: number;
  /** Median of the time from commit to arrival, in milliseconds. */
  readonly p50Ms: number;
  /** Processor milliseconds a stored event: the deliverer's, and the database's for all that it does. */
  readonly delivererMs: number;
  readonly databaseMs: number;
}

const WARM_UP = 0.2;
/** Events before the clock starts: a process that has run for a while is what is planned with. */
const WARM_EVENTS = 4_000;
const AT_ONCE = 100;

/** Stores many, and waits until they are delivered. */
async function warmed({ pool, producer, tasks }: Prepared, workers: Workers): Promise<void> {
  const client = await pool.connect();
  try {
    for (let at = 0; at < WARM_EVENTS; at += AT_ONCE) {
      await client.query("begin");
      await producer.store(client, tasks.slice(at, at + AT_ONCE));
      await client.query("commit");
    }
  } finally {
    client.release();
  }
  await workers.sent(WARM_EVENTS);
}

/** Stores events by the clock. @returns when each was committed, by its task */
async function storedByTheClock(
  made: Prepared,
  events: readonly BenchEvent[],
  eventsPerSecond: number,
): Promise<Map<string, number>> {
  const committed = new Map<string, number>();
  const started = performance.now();
  let next = 0;
  const one = async (): Promise<void> => {
    for (let at = next++; at < events.length; at = next++) {
      await pause(Math.max(0, started + (at * 1_000) / eventsPerSecond - performance.now()));
      committed.set(events[at]!.task, await stored(made, events[at]!));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, one));
  return committed;
}

/** Stores events by the clock while one deliverer works. */
export async function carried(cluster: TestPostgres, eventsPerSecond: number, seconds: number): Promise<Carried> {
  const arrived = new Map<string, number>();
  const { live, stop } = await listening((task, at) => arrived.set(task, at));
  const made = await prepared(cluster, live, WARM_EVENTS + Math.round(eventsPerSecond * seconds));
  const workers = await startWorkers({ name: ours.name, url: made.url });
  workers.begin();
  await warmed(made, workers);
  const server = await serverProcessor(made.url);
  const events = made.tasks.slice(WARM_EVENTS);
  const [started, used, database] = [performance.now(), workers.usedMs(), server()];
  const committed = await storedByTheClock(made, events, eventsPerSecond);
  const ended = performance.now();
  await workers.sent(made.tasks.length);
  const each = (value: number): number => value / events.length;
  const costs = {
    delivererMs: each(workers.usedMs() - used),
    databaseMs: each(server() - database),
  };
  await workers.stop();
  await made.close();
  stop();
  const from = started + (ended - started) * WARM_UP;
  const inTime = [...arrived].filter(([task, at]) => committed.has(task) && at >= from && at < ended);
  const delays = inTime.map(([task, at]) => Math.max(0, at - committed.get(task)!)).sort((a, b) => a - b);
  return {
    perSecond: (inTime.length * 1_000) / (ended - from),
    p50Ms: delays[Math.floor(delays.length / 2)]!,
    ...costs,
  };
}
