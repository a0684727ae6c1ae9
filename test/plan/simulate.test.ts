/** The simulation is held to what queueing theory says of the same queues, and to its own word. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { DeliveryLoad, Fleet, StepCosts } from "../../cli/plan/delivery.js";
import { Moments } from "../../cli/plan/heap.js";
import { random, SharedCores } from "../../cli/plan/resources.js";
import { simulate } from "../../cli/plan/simulate.js";

const load = (given: Partial<DeliveryLoad>): DeliveryLoad => ({
  ...{ eventsPerSecond: 500, endpoints: 100, failing: 0, answerMs: 1, failingMs: 1_000 },
  ...given,
});
const fleet = (given: Partial<Fleet> = {}): Fleet => ({
  deliverers: 1,
  concurrency: 1_024,
  databaseCores: 1,
  tellMs: 0,
  ...given,
});
const costs = (given: Partial<StepCosts>): StepCosts => ({
  storeMs: 0,
  handOutMs: 0,
  deliverMs: 0,
  leaseMs: 0,
  leaseOwnMs: 0,
  wakeMs: 0,
  ...given,
});

test("moments come by their time, and those of one time as they were added", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 3_000 }), (times) => {
      const moments = new Moments();
      for (const [at, time] of times.entries()) moments.add(time, 0, at);
      const taken = times.map(() => moments.take());
      const expected = times.map((at, who) => ({ at, what: 0, who })).sort((a, b) => a.at - b.at || a.who - b.who);
      assert.equal(taken, expected);
      assert.is(moments.next, Number.POSITIVE_INFINITY);
    }),
    { numRuns: 30 },
  );
});

test("the wait before one busy process is that of an M/D/1 queue", () => {
  for (const busy of [0.3, 0.6, 0.8]) {
    const { p50Ms, perSecond, delivererBusy } = simulate(
      load({ eventsPerSecond: busy * 1_000 }),
      fleet(),
      costs({ deliverMs: 1 }),
      { seconds: 200 },
    );
    assert.ok(Math.abs(delivererBusy - busy) < 0.02, `${delivererBusy}`);
    assert.ok(Math.abs(perSecond / (busy * 1_000) - 1) < 0.02, `${perSecond}`);
    // P(no wait) is 1 - busy: at 0.3 more than half find it idle.
    assert.is(p50Ms === 1, busy < 0.5, `${p50Ms}`);
  }
});

test("what comes faster than it can be done goes at the pace of the narrowest step", () => {
  const narrow: readonly (readonly [Partial<StepCosts>, number])[] = [
    [{ deliverMs: 2, handOutMs: 0.5 }, 500],
    [{ deliverMs: 0.1, handOutMs: 4 }, 250],
  ];
  for (const [given, most] of narrow) {
    const { perSecond } = simulate(load({ eventsPerSecond: 2_000 }), fleet(), costs(given), { seconds: 30 });
    assert.ok(Math.abs(perSecond / most - 1) < 0.05, `${perSecond} of ${most}`);
  }
});

test("what is stored soon after a notification waits for the next", () => {
  const arrival = (tellMs: number): number =>
    simulate(load({ eventsPerSecond: 1_000 }), fleet({ tellMs }), costs({ deliverMs: 0.01 }), { seconds: 20 }).p50Ms;
  assert.ok(arrival(0) < 0.1);
  // Of those that come between two of them the one in the middle waits for half of the time.
  assert.ok(Math.abs(arrival(20) - 10) < 1, `${arrival(20)}`);
});

test("twice the deliverers carry twice as much", () => {
  const carriedBy = (deliverers: number): number =>
    simulate(load({ eventsPerSecond: 5_000 }), fleet({ deliverers }), costs({ deliverMs: 1 }), { seconds: 20 })
      .perSecond;
  assert.ok(Math.abs(carriedBy(4) / carriedBy(2) - 2) < 0.1);
});

test("work that shares a core takes as long as in an M/G/1 queue of processor sharing", () => {
  for (const busy of [0.3, 0.6, 0.8]) {
    const [shared, draw] = [new SharedCores(1), random(3)];
    const begun: number[] = [];
    let [at, sum, done] = [0, 0, 0];
    while (done < 200_000) {
      at -= Math.log(1 - draw()) / busy;
      for (; shared.next <= at; done += 1) {
        const one = shared.take();
        sum += one.at - begun[one.who]!;
      }
      shared.add(at, 1, 0, begun.push(at) - 1);
    }
    const expected = 1 / (1 - busy);
    assert.ok(Math.abs(sum / done / expected - 1) < 0.05, `${sum / done} for ${expected} at ${busy}`);
  }
});

test("on one machine everything shares its cores", () => {
  const together = { cores: 2, applicationMs: 0.5, answerMs: 0.5 };
  const { perSecond } = simulate(
    load({ eventsPerSecond: 450 }),
    fleet({ databaseCores: 2, together }),
    costs({ storeMs: 1, handOutMs: 1, deliverMs: 1 }),
    { seconds: 30 },
  );
  // Four milliseconds an event on two cores are 500 a second at most.
  assert.ok(Math.abs(perSecond / 450 - 1) < 0.05, `${perSecond}`);
});

test("endpoints that fail are probed once a minute each, within their part of the slots", () => {
  const failing = load({ eventsPerSecond: 100, endpoints: 6_000, failing: 0.5, failingMs: 1_000 });
  const { probesPerSecond } = simulate(failing, fleet(), costs({ deliverMs: 0.1 }), { seconds: 120 });
  assert.ok(Math.abs(probesPerSecond / (3_000 / 61) - 1) < 0.1, `${probesPerSecond}`);
  const few = simulate(failing, fleet({ concurrency: 8 }), costs({ deliverMs: 0.1 }), { seconds: 120 });
  assert.ok(few.probesPerSecond <= 1.01, `${few.probesPerSecond}: one slot, a second each`);
});

test("a run is the same for the same number, and another for another", () => {
  const once = (seed: number) => simulate(load({}), fleet(), costs({ deliverMs: 1 }), { seconds: 10, seed });
  assert.equal(once(7), once(7));
  assert.not.equal(once(7), once(8));
});

test.run();
