/** A suite whose every test has a queue on an empty database of its engine, a clock and jobs to add. */
import { randomUUID } from "node:crypto";
import { suite, type uvu } from "uvu";
import type { NewJob, Queue } from "../../runtime/queue/types.js";

export const NOW = 1_776_520_800_000;

export interface QueueCase<Tx> {
  readonly name: string;
  /** Another instance on the same, fresh database as long as `reset` is not called. */
  open(now: () => number): Promise<Queue<Tx>>;
  reset(): Promise<void>;
  /** Ends an instance as kill -9 would: nothing is given back, nobody renews. */
  kill(queue: Queue<Tx>): Promise<void>;
  /** Milliseconds within which jobs of a dead worker are due again, on the clock that `pass` moves. */
  readonly recoveryMs: number;
  /** Lets time pass: moves the test's clock, or waits where the database's own clock decides. */
  pass(clock: { at: number }, ms: number): Promise<void>;
  /** An effect that inserts `value` into a table of the application. */
  record(tx: Tx, value: string): unknown;
  recorded(queue: Queue<Tx>): Promise<string[]>;
}

export const job = (over: Partial<NewJob> = {}): NewJob => ({
  key: randomUUID(),
  group: "a",
  meta: "{}",
  body: Buffer.from("body"),
  ...over,
});

export interface Context<Tx> {
  clock: { at: number };
  queue: Queue<Tx>;
  others: Queue<Tx>[];
}

export function queueSuite<Tx>(of: QueueCase<Tx>): uvu.Test<Context<Tx>> {
  const test = suite<Context<Tx>>(of.name);
  test.before.each(async (context) => {
    await of.reset();
    context.clock = { at: NOW };
    context.others = [];
    context.queue = await of.open(() => context.clock.at);
  });
  test.after.each(async ({ queue, others }) => {
    for (const one of [queue, ...others]) await one.close();
  });
  return test;
}

export const put = <Tx>(queue: Queue<Tx>, ...jobs: NewJob[]) => queue.transact((tx) => queue.add(tx, jobs));
