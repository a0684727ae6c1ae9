/**
 * The sender beside pg-boss and graphile-worker, in the same run on one PostgreSQL: what it costs to store events in an
 * application's transaction, and to deliver them.
 */
import pg from "pg";
import type { TestPostgres } from "../../test/support/postgres.js";
import { median } from "./measure.js";
import type { BenchEvent, Contender, Producer } from "./queue-contender.js";
import { contenders } from "./queue-contenders.js";
import { startWorkers } from "./queue-workers.js";
import type { Row } from "./row.js";

export interface PeersAsked {
  readonly cluster: TestPostgres;
  /** A receiver that answers at once; a path of it is a destination. */
  readonly live: string;
  readonly rounds: number;
  /** Events of each drain: enough that a process's first second, in which its code is compiled, does not decide. */
  readonly events: number;
  readonly asked: (part: string) => boolean;
}

/** Applications that store events at a time, and how many each stores in a transaction. */
const SINGLE = { clients: 8, batch: 1 };
const BATCHED = { clients: 2, batch: 100 };
const DESTINATIONS = 50;
/** Events by which a process that has just started is judged, apart from the rest. */
const FIRST_EVENTS = 4_000;

type Figures = Map<string, number[]>;

const note = (figures: Figures, name: string, value: number): void => {
  figures.set(name, [...(figures.get(name) ?? []), value]);
};

const tasksOf = (count: number, live: string, destinations: number): BenchEvent[] =>
  Array.from({ length: count }, (_, at) => ({ task: `task-${at}`, url: `${live}/${at % destinations}` }));

/** @returns events a second */
async function storing(
  producer: Producer,
  pool: pg.Pool,
  tasks: readonly BenchEvent[],
  { clients, batch }: typeof SINGLE,
): Promise<number> {
  let next = 0;
  const started = performance.now();
  const one = async (): Promise<void> => {
    const client = await pool.connect();
    while (next < tasks.length) {
      const events = tasks.slice(next, next + batch);
      next += batch;
      await client.query("begin");
      await producer.store(client, events);
      await client.query("commit");
    }
    client.release();
  };
  await Promise.all(Array.from({ length: clients }, one));
  return tasks.length / ((performance.now() - started) / 1_000);
}

const walAt = async (pool: pg.Pool): Promise<number> =>
  Number((await pool.query<{ at: string }>("select pg_current_wal_lsn() - '0/0'::pg_lsn as at")).rows[0]!.at);

interface Drained {
  readonly rate: number;
  /** Of its first events, the start included. */
  readonly firstRate: number;
  readonly cpuMs: number;
  readonly walBytes: number;
}

async function draining(
  name: string,
  url: string,
  pool: pg.Pool,
  given: { events: number; count: number },
): Promise<Drained> {
  const workers = await startWorkers({ name, url, count: given.count });
  const before = await walAt(pool);
  const first = Math.min(FIRST_EVENTS, given.events);
  workers.begin();
  const firstMs = await workers.sent(first);
  const ms = await workers.sent(given.events);
  const cpuMs = await workers.stop();
  const walBytes = (await walAt(pool)) - before;
  return {
    rate: (given.events * 1_000) / ms,
    firstRate: (first * 1_000) / firstMs,
    cpuMs: cpuMs / given.events,
    walBytes: walBytes / given.events,
  };
}

/** One contender's turn: stores events both ways, then delivers them. */
async function turn(
  contender: Contender,
  { cluster, live, events, asked }: PeersAsked,
  figures: Figures,
): Promise<void> {
  const { name } = contender;
  for (const [what, destinations, count] of [
    ["one", 1, 1],
    ["many", DESTINATIONS, 1],
    ["twice", DESTINATIONS, 2],
  ] as const) {
    if (what === "twice" && name !== "adbind") continue;
    if (!asked(what === "one" ? "enqueue" : "drain") && !asked("drain")) continue;
    const url = await cluster.database();
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    // The server stops when the last round is over, and ends whatever is idle then.
    pool.on("error", () => undefined);
    const tasks = tasksOf(events, live, destinations);
    const producer = await contender.produce({ url, tasks });
    const half = Math.floor(events / 2);
    note(figures, `${name} single`, await storing(producer, pool, tasks.slice(0, half), SINGLE));
    note(figures, `${name} batched`, await storing(producer, pool, tasks.slice(half), BATCHED));
    await producer.close();
    if (asked("drain")) {
      const drained = await draining(name, url, pool, { events, count });
      note(figures, `${name} drain ${what}`, drained.rate);
      note(figures, `${name} first ${what}`, drained.firstRate);
      note(figures, `${name} cpu ${what}`, drained.cpuMs);
      note(figures, `${name} wal ${what}`, drained.walBytes);
    }
    await pool.end();
  }
}

const amount = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

interface Compared {
  readonly name: string;
  readonly ours: string;
  readonly theirs: readonly string[];
  /** Absent where it is only told. */
  readonly target?: Row["target"];
  /** Which of several peers is the measure. */
  readonly best: (values: readonly number[]) => number;
  readonly unit: string;
}

function compare(figures: Figures, { name, ours, theirs, target, best, unit }: Compared): Row {
  const of = (what: string): number => median(figures.get(what) ?? [Number.NaN]);
  const peer = best(theirs.map(of));
  const value = of(ours) / peer;
  const told = [ours, ...theirs].map((what) => `${what.split(" ")[0]} ${amount(of(what))}${unit}`);
  const less = target?.max !== undefined;
  const floor = { of: "the peer it is compared with", times: less ? value : 1 / value };
  return { name, value, unit: "x", ...(target && { target }), floor, note: told.join(", ") };
}

const most = (values: readonly number[]): number => Math.max(...values);

const enqueueRows = (figures: Figures): Row[] =>
  [
    ["single", "1 a transaction"],
    ["batched", "100 a transaction"],
  ].map(([what, said]) =>
    compare(figures, {
      name: `events stored, ${said}, of pg-boss and the same update of a row`,
      ours: `adbind ${what}`,
      theirs: [`pg-boss ${what}`, `graphile-worker ${what}`],
      best: ([boss]) => boss!,
      target: { min: 1 },
      unit: "/s",
    }),
  );

const drainRows = (figures: Figures): Row[] => {
  const rated = (what: string, said: string): Row =>
    compare(figures, {
      name: `deliveries, ${said}, of the better of pg-boss and graphile-worker`,
      ours: `adbind drain ${what}`,
      theirs: [`pg-boss drain ${what}`, `graphile-worker drain ${what}`],
      best: most,
      target: { min: 1 },
      unit: "/s",
    });
  return [
    rated("one", "1 destination"),
    rated("many", `${DESTINATIONS} destinations`),
    compare(figures, {
      name: `the first ${FIRST_EVENTS.toLocaleString("en")} deliveries of a process that has just started, of the better peer's`,
      ours: "adbind first many",
      theirs: ["pg-boss first many", "graphile-worker first many"],
      best: most,
      unit: "/s",
    }),
    compare(figures, {
      name: "processor time of a delivery, of pg-boss's",
      ours: "adbind cpu one",
      theirs: ["pg-boss cpu one", "graphile-worker cpu one"],
      best: ([boss]) => boss!,
      target: { max: 1.1 },
      unit: " ms",
    }),
    compare(figures, {
      name: "write-ahead log of a delivery, of graphile-worker's",
      ours: "adbind wal one",
      theirs: ["pg-boss wal one", "graphile-worker wal one"],
      best: ([, graphile]) => graphile!,
      target: { max: 1.1 },
      unit: " bytes",
    }),
    compare(figures, {
      name: `deliveries of 2 processes, ${DESTINATIONS} destinations, of 1 process`,
      ours: "adbind drain twice",
      theirs: ["adbind drain many"],
      best: most,
      target: { min: 0.9 },
      unit: "/s",
    }),
  ];
};

/** Medians of as many rounds as are asked for, in turns. */
export async function peerRows(asked: PeersAsked): Promise<Row[]> {
  const figures: Figures = new Map();
  const all = await contenders();
  for (let round = 0; round < asked.rounds; round++) {
    for (const one of round % 2 === 0 ? all : all.toReversed()) await turn(one, asked, figures);
  }
  return [...(asked.asked("enqueue") ? enqueueRows(figures) : []), ...(asked.asked("drain") ? drainRows(figures) : [])];
}
