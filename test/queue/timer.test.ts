/** What the sender's schedule and the registry's crawl plan run on. */

import { test } from "uvu";
import * as assert from "uvu/assert";
import { createTimer } from "../../runtime/queue/timer.js";
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

test("a run follows the end of the one before, with the pause that was asked for then", async () => {
  const runs = heldRuns();
  const pauses: number[] = [];
  const pause = (): number => {
    pauses.push(runs.begun());
    return 0;
  };
  const timer = createTimer(pause, runs.run, () => assert.unreachable());
  timer.start();
  timer.start();
  assert.is(runs.begun(), 1, "the first does not wait");
  runs.end(0);
  await runs.reached(2);
  runs.end(1);
  await runs.reached(3);
  assert.equal(pauses, [1, 2]);
  assert.is(runs.most(), 1);
  runs.end(2);
  await timer.stop();
});

test("stopping waits for the run under way, and none follows", async () => {
  const runs = heldRuns();
  const timer = createTimer(
    () => 0,
    runs.run,
    () => assert.unreachable(),
  );
  timer.start();
  let stopped = false;
  const stop = timer.stop().then(() => {
    stopped = true;
  });
  await turns();
  assert.not(stopped);
  runs.end(0);
  await stop;
  await turns();
  assert.is(runs.begun(), 1);
  timer.start();
  await runs.reached(2);
  runs.end(1);
  await timer.stop();
});

test("what a run throws is told, and the next comes all the same", async () => {
  const faults: unknown[] = [];
  const fault = new Error("the store is away");
  let runs = 0;
  await new Promise<void>((resolve) => {
    const run = async (): Promise<void> => {
      runs += 1;
      if (runs === 1) throw fault;
      void timer.stop().then(resolve);
    };
    const timer = createTimer(
      () => 0,
      run,
      (error) => faults.push(error),
    );
    timer.start();
  });
  assert.is(runs, 2);
  assert.equal(faults, [fault]);
});

test.run();
