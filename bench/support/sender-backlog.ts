/** What adding to a queue and taking from it cost as a backlog grows, and the memory that it needs. */
import { randomUUID } from "node:crypto";
import { createWorker, type Queue } from "../../runtime/queue/index.js";
import type { Row } from "./row.js";

/** Jobs of one transaction. */
const CHUNK = 500;
/** Looks at a growing backlog; at some of them it is drained a little too. */
const LOOKS = 16;
const DRAINS = 4;
const MB = 1_048_576;

interface Engine {
  readonly name: string;
  queue(): Promise<{ queue: Queue; close(): Promise<void> }>;
}

const body = Buffer.from("x".repeat(200));

/** @returns microseconds of each job */
async function fill(queue: Queue, count: number, from: number): Promise<number> {
  const started = performance.now();
  for (let at = 0; at < count; at += CHUNK) {
    const jobs = Array.from({ length: Math.min(CHUNK, count - at) }, (_, index) => ({
      key: randomUUID(),
      random: true,
      endpoint: `g${(from + at + index) % 50}`,
      orderingKey: `l${Math.floor((from + at + index) / 2)}`,
      meta: "{}",
      body,
    }));
    await queue.transact((tx) => queue.add(tx, jobs));
  }
  return ((performance.now() - started) * 1_000) / count;
}

/** @returns jobs a second, taken and settled, nothing done with them; and how many went: more were under way at the end */
async function drain(queue: Queue, count: number): Promise<{ rate: number; taken: number }> {
  let done = 0;
  let finish: () => void = () => undefined;
  const enough = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const worker = createWorker({
    queue,
    longestDelayMs: 7_200_000,
    handle: async () => {
      done += 1;
      if (done === count) finish();
      return { outcome: { kind: "done" }, healthy: true };
    },
  });
  const started = performance.now();
  worker.start();
  await enough;
  const rate = count / ((performance.now() - started) / 1_000);
  await worker.stop();
  return { rate, taken: done };
}

/** Jobs that wait, and what was measured then. */
type Point = readonly [waiting: number, value: number];

interface Grown {
  /** Microseconds of each job that is added. */
  readonly enqueue: readonly Point[];
  /** Jobs a second. */
  readonly drain: readonly Point[];
  /** Resident megabytes of this process. */
  readonly memory: readonly Point[];
}

/** The first and the last point of each line make the figures. */
async function grow(queue: Queue, total: number): Promise<Grown> {
  const probe = total / 50;
  const [enqueue, drains, memory]: Point[][] = [[], [], []];
  let [waiting, added] = [0, 0];
  const add = async (count: number): Promise<void> => {
    const cost = await fill(queue, count, added);
    added += count;
    waiting += count;
    enqueue!.push([waiting, cost]);
  };
  const take = async (count: number): Promise<void> => {
    const { rate, taken } = await drain(queue, count);
    drains!.push([waiting, rate]);
    waiting -= taken;
  };
  const look = (): void => void memory!.push([waiting, process.memoryUsage().rss / MB]);

  await add(probe);
  await take(probe / 2);
  look();
  // What is taken on the way is added too, so that the last probe meets what was asked for.
  const between = total - probe - waiting + (DRAINS - 1) * (probe / 2);
  const step = Math.floor(between / LOOKS);
  for (let at = 1; at <= LOOKS; at++) {
    await add(step);
    look();
    if (at % (LOOKS / DRAINS) === 0 && at < LOOKS) await take(probe / 2);
  }
  await add(total - waiting);
  await take(probe);
  look();
  return { enqueue: enqueue!, drain: drains!, memory: memory! };
}

const names: Readonly<Record<string, string>> = { sqlite: "SQLite", postgres: "PostgreSQL" };

/** @param total jobs that wait at the end; a multiple of 100 */
export async function backlogRows(engine: Engine, total: number): Promise<Row[]> {
  const { queue, close } = await engine.queue();
  const { enqueue, drain: drains, memory } = await grow(queue, total);
  await close();
  const [first, last] = [enqueue[0]![1], enqueue.at(-1)![1]];
  const [shallow, deep] = [drains[0]![1], drains.at(-1)![1]];
  const size = total.toLocaleString("en");
  const curve = (name: string, what: string, label: string, points: readonly Point[]) => ({
    name: `${name}-${engine.name}`,
    title: `${what} as a backlog grows, ${names[engine.name]}`,
    x: { label: "jobs waiting" },
    y: { label },
    lines: [{ name, points }],
  });
  return [
    {
      name: `enqueue at ${size}, ${engine.name}, of the first`,
      value: last / first,
      unit: "x",
      target: { max: 2 },
      floor: { of: "an empty queue", times: last / first },
      note: `${first.toFixed(1)} and ${last.toFixed(1)} us each`,
      curves: [curve("enqueue", "Adding a job", "each, microseconds", enqueue)],
    },
    {
      name: `drain at ${size}, ${engine.name}, of a short queue`,
      value: deep / shallow,
      unit: "x",
      target: { min: 0.5 },
      floor: { of: "a short queue", times: shallow / deep },
      note: `${Math.round(deep)}/s and ${Math.round(shallow)}/s`,
      curves: [curve("drain", "Taking and settling jobs", "jobs a second", drains)],
    },
    {
      name: `memory for a backlog of ${size}, ${engine.name}`,
      value: memory.at(-1)![1] - memory[0]![1],
      unit: "MB",
      target: { max: 150 },
      floor: { none: "a difference, and nothing need be gained" },
      note: "RSS, page cache of SQLite included",
      curves: [curve("memory", "Memory", "resident set, MB", memory)],
    },
  ];
}
