/** What the upkeep of sellers, senders, receivers and registries runs on. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  createPeriodic,
  eachAlone,
  MORE,
  type PeriodicStep,
  sideBySide,
  stepRunner,
  type Telling,
} from "../../runtime/queue/periodic.js";
import { turns } from "../support/until.js";

/** Runs that end when they are told to. */
function heldRuns() {
  const ends: (() => void)[] = [];
  const waiting: (() => void)[] = [];
  let running = 0;
  let most = 0;
  return {
    most: () => most,
    begun: () => ends.length,
    async run(): Promise<void> {
      running += 1;
      most = Math.max(most, running);
      const end = new Promise<void>((resolve) => void ends.push(resolve));
      for (const one of waiting.splice(0)) one();
      await end;
      running -= 1;
    },
    async reached(count: number): Promise<void> {
      while (ends.length < count) await new Promise<void>((resolve) => void waiting.push(resolve));
    },
    end: (index: number): void => ends[index]!(),
  };
}

const step = (name: string, run: PeriodicStep["run"]): PeriodicStep => ({ name, meanwhile: "it waits", run });
const untold: Telling = { failed: () => assert.unreachable(), recovered: () => assert.unreachable() };

test("a run follows the end of the one before, with the pause that was asked for then", async () => {
  const runs = heldRuns();
  const pauses: number[] = [];
  const pauseMs = (): number => {
    pauses.push(runs.begun());
    return 0;
  };
  const periodic = createPeriodic({ pauseMs, steps: [step("wait", runs.run)], telling: untold });
  periodic.start();
  periodic.start();
  assert.is(runs.begun(), 1, "the first does not wait");
  const alive = setInterval(() => undefined, 1_000);
  runs.end(0);
  await runs.reached(2);
  runs.end(1);
  await runs.reached(3);
  assert.equal(pauses, [1, 2]);
  assert.is(runs.most(), 1);
  runs.end(2);
  await periodic.stop();
  clearInterval(alive);
});

test("a step that leaves some of its work is followed by the others, and by a run that does not wait for the pause", async () => {
  const seen: string[] = [];
  const ended = Promise.withResolvers<void>();
  const steps = [
    step("part", () => {
      seen.push("part");
      return seen.length < 5 ? MORE : undefined;
    }),
    step("other", async () => {
      seen.push("other");
      if (seen.length === 6) ended.resolve();
    }),
  ];
  const periodic = createPeriodic({ pauseMs: 3_600_000, steps, telling: untold });
  const alive = setInterval(() => undefined, 1_000);
  periodic.start();
  await ended.promise;
  assert.equal(seen, ["part", "other", "part", "other", "part", "other"]);
  await periodic.stop();
  clearInterval(alive);
});

test("of two runs beside each other, the one that ends well tells that what failed in the other works again", async () => {
  const told: string[] = [];
  const runSteps = stepRunner({
    failed: ({ step: name, failures }) => void told.push(`${name} failed ${failures}`),
    recovered: (name, failures) => void told.push(`${name} works after ${failures}`),
  });
  const [well, ill] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const both = [well, ill].map(({ promise }) => runSteps([step("renew", () => promise)]));
  ill.reject(new Error("broken on purpose"));
  await both[1];
  well.resolve();
  await both[0];
  assert.equal(told, ["renew failed 1", "renew works after 1"]);
});

test("stopping waits for the run under way, tells it, and none follows", async () => {
  const runs = heldRuns();
  let told: AbortSignal | undefined;
  let later = 0;
  const first = step("wait", (stopping) => {
    told = stopping;
    return runs.run();
  });
  const steps = [
    first,
    step("count", () => {
      later += 1;
    }),
  ];
  const periodic = createPeriodic({ pauseMs: 0, steps, telling: untold });
  periodic.start();
  assert.not(told!.aborted);
  let stopped = false;
  const stop = periodic.stop().then(() => {
    stopped = true;
  });
  assert.ok(told!.aborted);
  await turns();
  assert.not(stopped);
  runs.end(0);
  await stop;
  assert.equal([runs.begun(), later], [1, 0], "what had not begun does not");
  periodic.start();
  await runs.reached(2);
  assert.not(told!.aborted);
  const again = periodic.stop();
  runs.end(1);
  await again;
});

test("with a first pause nothing runs at once", async () => {
  let runs = 0;
  const steps = [
    step("count", () => {
      runs += 1;
    }),
  ];
  const periodic = createPeriodic({ pauseMs: 86_400_000, firstPause: true, steps, telling: untold });
  periodic.start();
  await turns();
  await periodic.stop();
  assert.is(runs, 0);
});

test("what a step throws is told, ever less often; the others and the next run come all the same", async () => {
  const fault = new Error("the store is away");
  const failed: unknown[] = [];
  const recovered: unknown[] = [];
  const counts = { before: 0, broken: 0, thrown: 0, after: 0 };
  await new Promise<void>((resolve) => {
    const periodic = createPeriodic({
      pauseMs: 0,
      steps: [
        step("come first", () => {
          counts.before += 1;
        }),
        step("reject", async () => {
          counts.broken += 1;
          if (counts.broken <= 5) throw fault;
        }),
        step("throw", () => {
          counts.thrown += 1;
          if (counts.thrown === 1) throw fault;
        }),
        step("come last", () => {
          counts.after += 1;
          if (counts.after === 6) resolve(periodic.stop());
        }),
      ],
      telling: {
        failed: ({ error, step: name, failures }, message) => failed.push([name, failures, error === fault, message]),
        recovered: (name, failures) => recovered.push([name, failures]),
      },
    });
    periodic.start();
    // Its own timer keeps no process alive.
    const alive = setInterval(() => counts.after >= 6 && clearInterval(alive), 5);
  });
  assert.equal(counts, { before: 6, broken: 6, thrown: 6, after: 6 });
  const message = (name: string) => `could not ${name}: it waits; it is tried again`;
  assert.equal(failed, [
    ["reject", 1, true, message("reject")],
    ["throw", 1, true, message("throw")],
    ["reject", 2, true, message("reject")],
    ["reject", 4, true, message("reject")],
  ]);
  assert.equal(recovered, [
    ["throw", 1],
    ["reject", 5],
  ]);
});

test("a listener that throws ends nothing", async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.message);
  process.on("warning", onWarning);
  let runs = 0;
  const failing: Telling = {
    failed: () => {
      throw new Error("no log");
    },
    recovered: () => undefined,
  };
  await new Promise<void>((resolve) => {
    const steps = [
      step("throw", () => {
        throw new Error("the store is away");
      }),
      step("count", () => {
        runs += 1;
        if (runs === 2) resolve(periodic.stop());
      }),
    ];
    const periodic = createPeriodic({ pauseMs: 0, steps, telling: failing });
    periodic.start();
    const alive = setInterval(() => runs >= 2 && clearInterval(alive), 5);
  });
  await turns();
  process.off("warning", onWarning);
  assert.is(runs, 2);
  assert.match(warnings.join("\n"), "Error: no log");
});

test("each item has its turn; the faults come at the end", async () => {
  const seen: number[] = [];
  const failing = (bad: readonly number[]) =>
    eachAlone([1, 2, 3, 4], async (item) => {
      seen.push(item);
      if (bad.includes(item)) throw new Error(`no ${item}`);
    }).then(
      () => "all",
      (error: unknown) =>
        error instanceof AggregateError ? error.errors.map(({ message }) => message) : String(error),
    );
  assert.is(await failing([]), "all");
  assert.is(await failing([2]), "Error: no 2");
  assert.equal(await failing([1, 3]), ["no 1", "no 3"]);
  assert.equal(seen, [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]);
});

test("of steps side by side one that hangs delays itself only, and the end waits for it no longer than it may", async () => {
  const runs = heldRuns();
  const done: string[] = [];
  const failed: string[] = [];
  const beside = sideBySide({ failed: ({ step: name }) => failed.push(name), recovered: () => assert.unreachable() });
  const broken = () => Promise.reject(new Error("the store is away"));
  const steps = [step("hang", runs.run), step("reject", broken), step("work", () => void done.push("work"))];
  const { signal } = new AbortController();
  for (const turn of [1, 2, 3]) {
    beside.begin(steps, signal);
    await turns();
    assert.equal([runs.begun(), done.length], [1, turn]);
  }
  assert.equal(failed, ["reject", "reject"], "told ever less often");
  await beside.ended(1);
  runs.end(0);
  await beside.ended(600_000);
  beside.begin(steps, signal);
  assert.is(runs.begun(), 2, "it has its turn again");
  runs.end(1);
});

test("items are worked on so many at a time, and none is begun any more when it is to stop", async () => {
  const runs = heldRuns();
  const ending = new AbortController();
  const all = eachAlone([1, 2, 3, 4, 5, 6], () => runs.run(), { atOnce: 2, stopping: ending.signal });
  await runs.reached(2);
  runs.end(0);
  await runs.reached(3);
  ending.abort();
  for (const index of [1, 2]) runs.end(index);
  await all;
  assert.equal([runs.most(), runs.begun()], [2, 3]);
});

test.run();
