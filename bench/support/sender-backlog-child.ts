/**
 * A queue that grows, in a process of its own, whose memory is the queue's: arguments are how many jobs wait at the end, and two
 * new databases. Tells what was measured in a line of JSON.
 */
import { randomUUID } from "node:crypto";
import { createWorker, openQueue, type Queue } from "../../runtime/queue/index.js";
import { median } from "./measure.js";
import type { Beside, Grown, Measured, Point } from "./sender-backlog.js";
import { storeAt } from "./sender-contender.js";

/** Jobs of one transaction. */
const CHUNK = 500;
/** Looks at a growing backlog; at some of them it is drained a little too. */
const LOOKS = 16;
const DRAINS = 4;
/** Measurements of which the middle one counts. */
const ROUNDS = 5;
const MB = 1_048_576;

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

/** A queue and how many wait in it. */
class Backlog {
  waiting = 0;
  #added = 0;

  constructor(readonly queue: Queue) {}

  /** @returns microseconds of each job */
  async add(count: number): Promise<number> {
    const cost = await fill(this.queue, count, this.#added);
    this.#added += count;
    this.waiting += count;
    return cost;
  }

  /** @returns jobs a second */
  async take(count: number): Promise<number> {
    const { rate, taken } = await drain(this.queue, count);
    this.waiting -= taken;
    return rate;
  }
}

/** Until `total` wait; the lines of the curves. */
async function grow(
  backlog: Backlog,
  { total, probe }: { readonly total: number; readonly probe: number },
): Promise<Grown> {
  const [enqueue, drains, memory]: Point[][] = [[], [], []];
  const add = async (count: number): Promise<void> => {
    const cost = await backlog.add(count);
    enqueue!.push([backlog.waiting, cost]);
  };
  const take = async (): Promise<void> => {
    const { waiting } = backlog;
    drains!.push([waiting, await backlog.take(probe / 2)]);
  };
  const look = (): void => void memory!.push([backlog.waiting, process.memoryUsage().rss / MB]);

  await add(probe);
  await take();
  look();
  // What is taken on the way is added too, so that the last probe meets what was asked for.
  const between = total - probe - backlog.waiting + (DRAINS - 1) * (probe / 2);
  const step = Math.floor(between / LOOKS);
  for (let at = 1; at <= LOOKS; at++) {
    await add(step);
    look();
    if (at % (LOOKS / DRAINS) === 0 && at < LOOKS) await take();
  }
  await add(total - backlog.waiting);
  await take();
  look();
  return { enqueue: enqueue!, drain: drains!, memory: memory! };
}

/** A deep and a short queue in turns, by the same process. */
async function beside(deep: Backlog, short: Backlog, count: number): Promise<Beside> {
  const queues = { deep, short };
  const sizes = { deep: deep.waiting + count, short: short.waiting + count };
  const enqueue: Record<keyof typeof queues, number[]> = { deep: [], short: [] };
  const drains: Record<keyof typeof queues, number[]> = { deep: [], short: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? (["deep", "short"] as const) : (["short", "deep"] as const);
    for (const name of order) enqueue[name].push(await queues[name].add(sizes[name] - queues[name].waiting));
    for (const name of order) drains[name].push(await queues[name].take(count));
  }
  const middle = (of: typeof enqueue) => ({ deep: median(of.deep), short: median(of.short) });
  return { enqueue: middle(enqueue), drain: middle(drains) };
}

const [size, ...places] = process.argv.slice(2);
const total = Number(size);
const stores = await Promise.all(places.map((place) => storeAt(place)));
const [deep, short] = stores.map((store) => new Backlog(openQueue(store.database, "bench")));
const probe = total / 50;
// A process's first drain is slower than any later, and what it grows by then is no backlog's. What is under way as one
// ends is taken too, and the short queue is not to run out.
await short!.add(4 * probe);
for (let time = 0; time < 2; time++) await short!.take(probe);
const grown = await grow(deep!, { total, probe });
await deep!.add(total - deep!.waiting);
const measured: Measured = { grown, beside: await beside(deep!, short!, probe) };
for (const { queue } of [deep!, short!]) await queue.close();
for (const store of stores) await store.close();
process.stdout.write(`${JSON.stringify(measured)}\n`);
