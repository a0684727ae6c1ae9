/** A suite whose every test has a queue on an empty database of its engine, a clock and jobs to add. */
import { randomUUID } from "node:crypto";
import { suite, type uvu } from "uvu";
import type { AnyDatabase, Coroutine, Query } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import type { NewJob, OpenQueue, Queue } from "../../runtime/queue/types.js";

export const NOW = 1_776_520_800_000;
/** Milliseconds a lease of these queues lasts. */
export const LEASE = 4_000;

export interface QueueCase {
  readonly name: string;
  /** Another handle on the same, fresh database as long as `reset` is not called. */
  open(): Promise<AnyDatabase>;
  reset(): Promise<void>;
  /** Where the database's own queue is not meant. */
  readonly queue?: OpenQueue;
  /** Lets time pass: moves the test's clock, and waits where the database's own clock judges leases. */
  pass(clock: { at: number }, ms: number): Promise<void>;
}

export const job = (over: Partial<NewJob> = {}): NewJob => ({
  key: randomUUID(),
  endpoint: "a",
  meta: "{}",
  body: Buffer.from("body"),
  ...over,
});

export interface Context {
  clock: { at: number };
  database: AnyDatabase;
  queue: Queue;
  /** Another instance. */
  other(): Promise<Queue>;
  opened: { queue: Queue; database: AnyDatabase }[];
}

export function queueSuite(of: QueueCase): uvu.Test<Context> {
  const test = suite<Context>(of.name);
  test.before.each(async (context) => {
    await of.reset();
    context.clock = { at: NOW };
    context.opened = [];
    context.other = async () => {
      const database = await of.open();
      const queue = await (of.queue ?? openQueue)(database, "test", { now: () => context.clock.at, leaseMs: LEASE });
      context.opened.push({ queue, database });
      return queue;
    };
    context.queue = await context.other();
    context.database = context.opened[0]!.database;
    await context.database.query((q) => q.run("create table effects (value text)"));
  });
  test.after.each(async ({ opened }) => {
    for (const { queue, database } of opened) {
      await queue.close();
      await database.close();
    }
  });
  return test;
}

export const put = (queue: Queue, ...jobs: NewJob[]) => queue.transact((q) => queue.add(q, jobs));

/** Writes of the application's own, beside the queue's. */
export function* record(q: Query, value: string): Coroutine<void> {
  yield* q.run("insert into effects (value) values (?)", [value]);
}
export const recorded = async (database: AnyDatabase): Promise<string[]> => {
  const rows = await database.query((q) => q.rows<{ value: string }>("select value from effects"));
  return rows.map(({ value }) => value);
};
