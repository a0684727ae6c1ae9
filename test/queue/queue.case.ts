/** What every queue must do: one body, run against each engine. */
import { randomUUID } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Job, NewJob, Queue } from "../../runtime/queue/types.js";
import { createWorker, type Outcome, type WorkerOptions } from "../../runtime/queue/worker.js";
import { BEHIND_DUE_MS } from "../../runtime/store/jobs.js";

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

const anyRoom = () => 1_000;
const delivered: Outcome = { verdict: { kind: "done" }, healthy: true };

interface Context<Tx> {
  clock: { at: number };
  queue: Queue<Tx>;
  others: Queue<Tx>[];
}

export function queueCase<Tx>(of: QueueCase<Tx>): void {
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
  const put = (queue: Queue<Tx>, ...jobs: NewJob[]) => queue.transact((tx) => queue.add(tx, jobs));
  const take = (queue: Queue<Tx>, now: number, limit = 100, room: (group: string) => number = anyRoom) =>
    queue.take({ now, limit, room });
  const keys = (jobs: readonly Job[]) => jobs.map((one) => one.key).sort();

  test("a job is added with the caller's own writes, or not at all", async ({ queue, clock }) => {
    await queue.transact(async_(of, (tx) => [queue.add(tx, [job({ key: "kept" })]), of.record(tx, "row")]));
    try {
      await queue.transact(
        async_(of, (tx) => [
          queue.add(tx, [job({ key: "undone" })]),
          of.record(tx, "undone"),
          () => {
            throw new Error("rolled back");
          },
        ]),
      );
      assert.unreachable();
    } catch (error) {
      assert.match((error as Error).message, "rolled back");
    }
    assert.equal(await of.recorded(queue), ["row"]);
    assert.equal(keys(await take(queue, clock.at)), ["kept"]);
  });

  test("a key is taken once in a topic", async ({ queue }) => {
    await put(queue, job({ key: "same" }));
    let refused = false;
    await put(queue, job({ key: "same" })).catch(() => {
      refused = true;
    });
    assert.ok(refused);
    assert.is((await queue.list()).length, 1);
  });

  test("what is out is not taken again, by this instance or another, and is settled once", async (context) => {
    const { queue, clock } = context;
    const other = await of.open(() => clock.at);
    context.others.push(other);
    await put(queue, ...Array.from({ length: 40 }, () => job()));
    const [mine, theirs] = await Promise.all([take(queue, clock.at, 20), take(other, clock.at, 20)]);
    assert.is(new Set([...keys(mine), ...keys(theirs)]).size, 40);
    assert.is((await take(queue, clock.at)).length, 0);
    const settled = await queue.settle(
      mine.map((one) => ({ job: one, verdict: { kind: "done" } })),
      clock.at,
    );
    assert.ok(settled.every((held) => held));
    assert.equal(await queue.settle([{ job: mine[0]!, verdict: { kind: "done" } }], clock.at), [false]);
    assert.is((await queue.counts()).ready, 20);
  });

  test("an effect commits with what it settles, and sees only what took effect", async ({ queue, clock }) => {
    await put(queue, job({ key: "one" }), job({ key: "two" }));
    const jobs = await take(queue, clock.at);
    await queue.settle([{ job: jobs[0]!, verdict: { kind: "done" } }], clock.at);
    const seen: number[] = [];
    await queue.settle(
      jobs.map((one) => ({ job: one, verdict: { kind: "done" } })),
      clock.at,
      (tx, settled) => {
        seen.push(settled.length);
        return of.record(tx, "effect") as never;
      },
    );
    assert.equal(seen, [1]);
    assert.equal(await of.recorded(queue), ["effect"]);
  });

  test("a failed attempt comes back at its time with its count and its reason", async ({ queue, clock }) => {
    await put(queue, job());
    const [first] = await take(queue, clock.at);
    await queue.settle([{ job: first!, verdict: { kind: "later", due: clock.at + 5_000, error: "503" } }], clock.at);
    assert.is((await take(queue, clock.at + 4_999)).length, 0);
    clock.at += 5_000;
    const [second] = await take(queue, clock.at);
    assert.is(second!.attempts, 1);
    assert.is(second!.error, "503");
    assert.is(second!.firstAt, NOW);
    assert.is(second!.startedAt, NOW + 5_000);
  });

  test("a job given back has not been attempted", async ({ queue, clock }) => {
    await put(queue, job());
    const [first] = await take(queue, clock.at);
    await queue.settle([{ job: first!, verdict: { kind: "back", due: clock.at + 10 } }], clock.at);
    clock.at += 10;
    const [second] = await take(queue, clock.at);
    assert.is(second!.attempts, 0);
    assert.is(second!.firstAt, NOW + 10);
  });

  test("a lane is attempted one after the other, retries let the next go first", async ({ queue, clock }) => {
    await put(
      queue,
      job({ key: "1", lane: "t" }),
      job({ key: "2", lane: "t" }),
      job({ key: "3", lane: "t", group: "b" }),
    );
    const [first, ...none] = await take(queue, clock.at);
    assert.is(first!.key, "1");
    assert.equal(none, []);
    await queue.settle([{ job: first!, verdict: { kind: "later", due: clock.at + 60_000, error: "x" } }], clock.at);
    clock.at += 2_000;
    const second = await take(queue, clock.at);
    assert.equal(keys(second), ["2"]);
    await queue.settle([{ job: second[0]!, verdict: { kind: "dead", error: "x" } }], clock.at);
    clock.at += 2_000;
    assert.equal(keys(await take(queue, clock.at)), ["3"]);
  });

  test("dropping the first of a lane lets the next go", async ({ queue, clock }) => {
    await put(queue, job({ key: "1", lane: "t" }), job({ key: "2", lane: "t" }));
    const [listed] = await queue.list();
    assert.ok(await queue.drop(listed!.id, clock.at));
    clock.at += 2_000;
    assert.equal(keys(await take(queue, clock.at)), ["2"]);
  });

  test("turns are shared out: a backlog of one group leaves room for the others", async ({ queue, clock }) => {
    await put(queue, ...Array.from({ length: 300 }, () => job({ group: "flood" })));
    await put(queue, job({ key: "small", group: "small" }));
    const out = new Map<string, number>();
    const room = (group: string) => 4 - (out.get(group) ?? 0);
    const groups: string[] = [];
    for (let round = 0; round < 4; round++) {
      for (const one of await take(queue, clock.at, 64, room)) {
        out.set(one.group, (out.get(one.group) ?? 0) + 1);
        groups.push(one.group);
      }
      clock.at += 200;
    }
    assert.is(groups.filter((group) => group === "small").length, 1);
    assert.is(groups.filter((group) => group === "flood").length, 4);
  });

  test("a paused group waits, for every instance, and goes on where it was", async (context) => {
    const { queue, clock } = context;
    const other = await of.open(() => clock.at);
    context.others.push(other);
    await put(queue, job({ key: "1" }), job({ key: "b", group: "b" }));
    await queue.pause("a", { pausedUntil: clock.at + 10_000, failingSince: clock.at });
    await put(other, job({ key: "2" }));
    assert.equal(keys(await take(other, clock.at)), ["b"]);
    assert.equal(await other.health("a"), { pausedUntil: clock.at + 10_000, failingSince: NOW });
    clock.at += 10_000;
    assert.equal(keys(await take(other, clock.at)), ["1", "2"]);
  });

  test("what waits in a group that failed for too long is given up, what is out is not", async ({ queue, clock }) => {
    await put(queue, job({ key: "out" }), job({ key: "old", lane: "t" }));
    await take(queue, clock.at, 1);
    clock.at += 1_000;
    await put(queue, job({ key: "young" }));
    await queue.pause("a", { pausedUntil: clock.at + 5_000, failingSince: NOW });
    assert.equal(await take(queue, clock.at), []);
    const buried = await queue.bury("a", clock.at - 500, "unreachable");
    assert.equal(
      buried.map((one) => one.key),
      ["old"],
    );
    const [dead] = await queue.list({ state: "dead" });
    assert.is(dead!.error, "unreachable");
    assert.equal(await queue.counts(), { ready: 2, dead: 1 });
  });

  test("what a killed worker left in such a group is given up once it is nobody's", async (context) => {
    const { queue, clock } = context;
    const doomed = await of.open(() => clock.at);
    await put(queue, job({ key: "left" }));
    await take(doomed, clock.at);
    await of.kill(doomed);
    await queue.pause("a", { pausedUntil: clock.at + 3_600_000, failingSince: NOW });
    let buried = 0;
    const start = clock.at;
    while (buried === 0 && clock.at - start < of.recoveryMs) {
      await of.pass(clock, 3_000);
      await take(queue, clock.at);
      buried = (await queue.bury("a", clock.at, "unreachable")).length;
    }
    assert.is(buried, 1);
  });

  test("a dead job is listed, replayed with a new life, or dropped", async ({ queue, clock }) => {
    await put(queue, job({ key: "1" }), job({ key: "2" }));
    const jobs = await take(queue, clock.at);
    const settlements = jobs.map((one) => ({ job: one, verdict: { kind: "dead", error: "over" } }) as const);
    await queue.settle(settlements, clock.at);
    const dead = await queue.list({ state: "dead" });
    assert.is(dead.length, 2);
    clock.at += 5;
    assert.ok(await queue.replay(dead[0]!.id, clock.at));
    assert.not(await queue.replay(dead[0]!.id, clock.at));
    assert.ok(await queue.drop(dead[1]!.id, clock.at));
    assert.not(await queue.drop(dead[1]!.id, clock.at));
    const [again] = await take(queue, clock.at);
    assert.is(again!.key, dead[0]!.key);
    assert.is(again!.firstAt, clock.at);
  });

  test("a worker that is killed loses its jobs to the next, one that lives keeps them", async (context) => {
    const { queue, clock } = context;
    const doomed = await of.open(() => clock.at);
    await put(queue, job({ key: "doomed" }));
    const lost = await take(doomed, clock.at);
    assert.equal(keys(lost), ["doomed"]);
    await put(queue, job({ key: "kept" }));
    const kept = await take(queue, clock.at);
    await of.kill(doomed);
    const found: string[] = [];
    const start = clock.at;
    while (found.length === 0 && clock.at - start < of.recoveryMs) {
      await of.pass(clock, 3_000);
      await queue.renew(kept, clock.at);
      found.push(...keys(await take(queue, clock.at)));
    }
    assert.equal(found, ["doomed"]);
    assert.equal(await queue.settle([{ job: kept[0]!, verdict: { kind: "done" } }], clock.at), [true]);
    assert.equal(await queue.settle([{ job: lost[0]!, verdict: { kind: "done" } }], clock.at), [false]);
  });

  test("after the clock was set back nothing waits for a time that is far off", async ({ queue, clock }) => {
    await put(queue, job({ key: "1", lane: "t" }), job({ lane: "t" }));
    const [first] = await take(queue, clock.at);
    await queue.settle([{ job: first!, verdict: { kind: "back", due: clock.at + 86_400_000 } }], clock.at);
    await queue.pause("a", { pausedUntil: clock.at + 86_400_000, failingSince: clock.at });
    await queue.pull(clock.at + 7_200_000, clock.at);
    assert.equal(keys(await take(queue, clock.at)), ["1"]);
    assert.ok((await queue.list()).every((one) => one.due < clock.at + 86_400_000 || one.due === BEHIND_DUE_MS));
  });

  workerCase(test, put);
  test.run();
}

/** Statements of a transaction: in order, and awaited where the engine's answer is a promise. */
const async_ = <Tx>(of: QueueCase<Tx>, steps: (tx: Tx) => unknown[]) => {
  const runStep = (step: unknown) => (typeof step === "function" ? step() : step);
  return of.name === "embedded"
    ? (tx: Tx): void => {
        for (const step of steps(tx)) runStep(step);
      }
    : async (tx: Tx): Promise<void> => {
        for (const step of steps(tx)) await runStep(step);
      };
};

const until = async (what: () => boolean, ms = 8_000): Promise<void> => {
  const end = performance.now() + ms;
  while (!what()) {
    if (performance.now() > end) throw new Error("it did not happen");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

function workerCase<Tx>(
  test: ReturnType<typeof suite<Context<Tx>>>,
  put: (queue: Queue<Tx>, ...jobs: NewJob[]) => Promise<void>,
): void {
  const workerOf = (context: Context<Tx>, over: Partial<WorkerOptions<Tx>> & Pick<WorkerOptions<Tx>, "handle">) =>
    createWorker<Tx>({
      queue: context.queue,
      longestDelayMs: 4_000_000,
      now: () => context.clock.at,
      pollMs: 20,
      onFault: (error) => assert.unreachable(String(error)),
      ...over,
    });

  test("a worker drains what is added while it runs, each job once", async (context) => {
    const seen: string[] = [];
    const worker = workerOf(context, {
      handle: async ({ key }) => {
        seen.push(key);
        return delivered;
      },
    });
    worker.start();
    const added = Array.from({ length: 200 }, (_, index) => job({ group: `g${index % 7}`, lane: `l${index % 20}` }));
    for (let at = 0; at < added.length; at += 20) await put(context.queue, ...added.slice(at, at + 20));
    await until(() => seen.length >= 200);
    await worker.stop();
    assert.equal([...seen].sort(), added.map((one) => one.key).sort());
    assert.equal(await context.queue.counts(), { ready: 0, dead: 0 });
  });

  test("groups that hang hold up nobody else", async (context) => {
    const release: (() => void)[] = [];
    let done = 0;
    let hanging = true;
    const worker = workerOf(context, {
      concurrency: 40,
      handle: async ({ group }) => {
        if (group.startsWith("dead") && hanging) await new Promise<void>((resolve) => release.push(resolve));
        else done += 1;
        return delivered;
      },
    });
    worker.start();
    const dead = Array.from({ length: 100 }, (_, index) => job({ group: `dead${index % 10}` }));
    await put(context.queue, ...dead);
    await until(() => release.length >= 20);
    await put(context.queue, ...Array.from({ length: 50 }, () => job({ group: "alive" })));
    await until(() => done === 50);
    assert.ok(release.length < 40);
    hanging = false;
    const stopped = worker.stop();
    for (const one of release) one();
    await stopped;
  });

  test("a group that keeps failing is paused, probed, and taken up again", async (context) => {
    let well = false;
    let attempts = 0;
    const worker = workerOf(context, {
      failuresToPause: 3,
      pauseMs: 60_000,
      handle: async () => {
        attempts += 1;
        if (well) return delivered;
        return { verdict: { kind: "later", due: context.clock.at, error: "503" }, healthy: false };
      },
    });
    await put(context.queue, ...Array.from({ length: 30 }, () => job()));
    worker.start();
    await until(() => attempts >= 3 && worker.out === 0);
    const before = attempts;
    assert.ok(before < 10, `${before} attempts before the pause`);
    await new Promise((resolve) => setTimeout(resolve, 150));
    assert.is(attempts, before);
    assert.is((await context.queue.health("a")).pausedUntil, NOW + 60_000);
    context.clock.at += 60_001;
    await until(() => attempts === before + 1 && worker.out === 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.is(attempts, before + 1);
    well = true;
    context.clock.at += 120_001;
    await until(() => attempts >= before + 31);
    await worker.stop();
    assert.equal(await context.queue.counts(), { ready: 0, dead: 0 });
  });

  test("a group that failed for too long is given up, whatever of it was never attempted", async (context) => {
    const worker = workerOf(context, {
      failuresToPause: 2,
      giveUpMs: 86_400_000,
      handle: async () => {
        const due = context.clock.at + 1_000;
        return { verdict: { kind: "later", due, error: "refused" }, healthy: false };
      },
    });
    await put(context.queue, ...Array.from({ length: 12 }, () => job()));
    worker.start();
    await until(() => worker.out === 0);
    let dead = 0;
    // More than the day it takes: on a busy machine not every hour is noticed.
    for (let hour = 0; hour < 240 && dead < 12; hour++) {
      context.clock.at += 3_600_000;
      await new Promise((resolve) => setTimeout(resolve, 60));
      dead = (await context.queue.counts()).dead;
    }
    await worker.stop();
    assert.equal(await context.queue.counts(), { ready: 0, dead: 12 });
  });

  test("a handler that throws is reported, and its job is tried again", async (context) => {
    const faults: unknown[] = [];
    let calls = 0;
    const worker = workerOf(context, {
      onFault: (error) => faults.push(error),
      handle: async () => {
        calls += 1;
        if (calls === 1) throw new Error("ours");
        return delivered;
      },
    });
    await put(context.queue, job());
    worker.start();
    await until(() => calls === 1 && worker.out === 0);
    context.clock.at += 10_001;
    await until(() => calls === 2 && worker.out === 0);
    await worker.stop();
    assert.is(faults.length, 1);
  });
}
