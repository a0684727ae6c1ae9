/** How slots are shared out among endpoints, and when they are left alone: without a queue. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Endpoints } from "../../runtime/queue/endpoints.js";
import { LEASED_PER_SLOT } from "../../runtime/queue/slots.js";
import { workerSettingsOf } from "../../runtime/queue/worker-options.js";

const NOW = 1_776_520_800_000;
/** Names are `host principal number`. */
const endpointsOf = (concurrency: number): Endpoints =>
  new Endpoints(
    workerSettingsOf({
      queue: undefined as never,
      handle: undefined as never,
      longestDelayMs: 1,
      concurrency,
      ownerOf: (name) => ({ host: name.split(" ")[0]!, principal: name.split(" ")[1]! }),
    }),
  );
/** Starts what there is room for, as a take would. */
function take(endpoints: Endpoints, names: readonly string[], free: number, now = NOW): string[] {
  const room = endpoints.plan(free, now);
  const taken = names.flatMap((name) => Array.from({ length: room(name) }, () => name)).slice(0, free);
  for (const name of taken) endpoints.started(name, now);
  return taken;
}

test("however many endpoints hang, there is room for a principal that has nothing out", () => {
  fc.assert(
    fc.property(fc.integer({ min: 64, max: 2_000 }), fc.integer({ min: 1, max: 3 }), (concurrency, principals) => {
      const endpoints = endpointsOf(concurrency);
      let out = 0;
      for (let principal = 0; principal < principals; principal++) {
        const names = Array.from({ length: 1_500 }, (_, at) => `h${at} p${principal} 0`);
        for (let round = 0; round < 5; round++) out += take(endpoints, names, concurrency - out).length;
      }
      assert.ok(out < Math.ceil(concurrency / 8), `${out} of ${concurrency}`);
      assert.is(take(endpoints, ["h0 other 0"], concurrency - out).length, 1);
    }),
    { numRuns: 20 },
  );
});

test("however many endpoints have failed, each of a principal of its own, there is room for who has not", () => {
  fc.assert(
    fc.property(fc.integer({ min: 9, max: 2_000 }), fc.integer({ min: 1, max: 3 }), (concurrency, failures) => {
      const endpoints = endpointsOf(concurrency);
      const names = Array.from({ length: 2_000 }, (_, at) => `h${at} p${at} 0`);
      for (const name of names)
        for (let n = 0; n < failures; n++) {
          endpoints.started(name, NOW);
          endpoints.failed(name, NOW);
        }
      let out = 0;
      for (let round = 0; round < 10; round++) out += take(endpoints, names, concurrency - out).length;
      assert.ok(out >= Math.floor(concurrency / 16), `${out} of ${concurrency}`);
      assert.is(take(endpoints, ["new new 0"], concurrency - out).length, 1, `${out} of ${concurrency} are out`);
    }),
    { numRuns: 20 },
  );
});

test("where a bad spell is noted of endpoints that were not seen here yet, there is room for others", () => {
  const endpoints = endpointsOf(256);
  const names = Array.from({ length: 2_000 }, (_, at) => `h${at} p${at} 0`);
  endpoints.note(names);
  let out = 0;
  for (let round = 0; round < 10; round++) out += take(endpoints, names, 256 - out).length;
  assert.is(out, 24);
  assert.is(take(endpoints, ["new new 0"], 256 - out).length, 1);
});

test("however many endpoints at a host are held, there is room for a principal that has nothing out there", () => {
  fc.assert(
    fc.property(fc.integer({ min: 256, max: 2_000 }), fc.integer({ min: 1, max: 3 }), (concurrency, principals) => {
      const endpoints = endpointsOf(concurrency);
      let out = 0;
      for (let principal = 0; principal < principals; principal++) {
        const names = Array.from({ length: 32 }, (_, at) => `h p${principal} ${at}`);
        for (let n = 0; n < 64; n++)
          for (const name of names) {
            endpoints.started(name, NOW);
            endpoints.succeeded(name, NOW);
          }
        for (let round = 0; round < 40; round++) out += take(endpoints, names, concurrency - out).length;
      }
      assert.ok(out <= Math.ceil(concurrency / 2), `${out} of ${concurrency}`);
      assert.is(take(endpoints, ["h other 0"], concurrency - out).length, 1, `${out} of ${concurrency} are out`);
    }),
    { numRuns: 20 },
  );
});

test("an endpoint has half of what is left to its owner while it is the only one, and a quarter beside others", () => {
  const endpoints = endpointsOf(1_024);
  for (const name of ["h p well", "h p other"]) {
    for (let n = 0; n < 64; n++) {
      endpoints.started(name, NOW);
      endpoints.succeeded(name, NOW);
    }
  }
  const roomOf = (name: string): number => endpoints.plan(1_024, NOW, 256)(name);
  assert.is(roomOf("h p well"), 256);
  for (let n = 0; n < 100; n++) endpoints.started("h p well", NOW);
  assert.is(roomOf("h p well"), 206);
  endpoints.started("h p other", NOW);
  assert.is(roomOf("h p well"), Math.ceil((512 - 101) / 4));
  assert.is(roomOf("h p other"), Math.ceil((512 - 101) / 4));
  const plan = endpoints.plan(1_024, NOW, 256);
  assert.equal(["h q new", "h p other"].map(plan), [1, Math.ceil((512 - 102) / 4)], "what one is given counts");
});

test("however much is left, no more of an endpoint is leased than may wait for its slots", () => {
  const endpoints = endpointsOf(2_048);
  for (let n = 0; n < 64; n++) {
    endpoints.started("h p well", NOW);
    endpoints.succeeded("h p well", NOW);
  }
  for (let n = 0; n < 100; n++) endpoints.started("h p well", NOW);
  assert.is(endpoints.plan(2_048, NOW, 512)("h p well"), LEASED_PER_SLOT * 64 - 100);
});

test("of a few endpoints of one principal that are asked for at once each has its part, and one of many has enough", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 16 }), fc.integer({ min: 64, max: 2_000 }), (count, concurrency) => {
      const endpoints = endpointsOf(concurrency);
      const names = Array.from({ length: count }, (_, at) => `h p ${at}`);
      for (let n = 0; n < 64; n++)
        for (const name of names) {
          endpoints.started(name, NOW);
          endpoints.succeeded(name, NOW);
        }
      const plan = endpoints.plan(concurrency, NOW, concurrency / 4);
      const rooms = names.map((name, at) => plan(name, names.length - 1 - at));
      const there = Math.floor((Math.ceil(concurrency / 2) * 3) / 4);
      assert.is(rooms.filter((room) => room > 0).length, Math.min(count, there), `${rooms}`);
      assert.ok(Math.max(...rooms) <= Math.ceil(there / 4) || count < 4, `${rooms}`);
      const one = endpoints.plan(concurrency, NOW, concurrency / 4)(names[0]!, 255);
      assert.ok(one >= there / 16, `${one} of ${there} is no room for who has much to do`);
    }),
  );
});

test("what is given back while endpoints are gone through goes to whose turn it was", () => {
  const endpoints = endpointsOf(64);
  const hanging = Array.from({ length: 8 }, (_, at) => `h${at} p${at} 1`);
  for (const name of hanging) endpoints.started(name, NOW);
  const plan = endpoints.plan(56, NOW);
  assert.is(plan("ha a 1"), 0);
  endpoints.failed(hanging[0]!, NOW);
  assert.is(plan("hb b 1"), 0);
  assert.is(endpoints.plan(56, NOW)("ha a 1"), 1);
});

test("slots are given back: after any outcomes nothing counts as out", () => {
  const outcome = fc.constantFrom("succeeded", "failed", "returned");
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(20), outcome), { maxLength: 200 }), (turns) => {
      const endpoints = endpointsOf(64);
      const out: string[] = [];
      for (const [index, [at, kind]] of turns.entries()) {
        const now = NOW + index * 7_000;
        out.push(...take(endpoints, [`h${at % 3} p${at % 2} ${at}`], 64 - out.length, now));
        const name = out.shift();
        if (name !== undefined) endpoints[kind as "failed"](name, now);
      }
      const end = NOW + 3_600_000;
      for (const name of out) endpoints.succeeded(name, end);
      const fresh = Array.from({ length: 40 }, (_, at) => `h9 p9 ${at}`);
      assert.is(take(endpoints, fresh, 64, end).length, 4);
    }),
  );
});

test("an endpoint that asked for it is left alone, whatever succeeds meanwhile; others go on", () => {
  const endpoints = endpointsOf(1_024);
  const one = "h p 1";
  endpoints.started(one, NOW);
  endpoints.started(one, NOW);
  assert.equal(endpoints.hold(one, NOW + 30_000, NOW), { kind: "paused", until: NOW + 30_000, failingSince: null });
  assert.equal(endpoints.hold(one, NOW + 20_000, NOW), { kind: "same" });
  endpoints.failed(one, NOW);
  endpoints.succeeded(one, NOW);
  assert.equal(take(endpoints, [one, "h p 2"], 100, NOW + 29_999), ["h p 2"]);
  assert.equal(take(endpoints, [one], 100, NOW + 30_000), [one, one]);
  // What it asks for beyond the longest pause is kept by the queue, where an operator can end it.
  endpoints.hold("h p 3", NOW + 3_600_000, NOW);
  assert.equal(take(endpoints, ["h p 3"], 100, NOW + 59_999), []);
  assert.equal(take(endpoints, ["h p 3"], 100, NOW + 60_000), ["h p 3"]);
});

test("what an endpoint had asked for is forgotten once the database gives something of it all the same", () => {
  for (const outcome of ["succeeded", "failed"] as const) {
    const endpoints = endpointsOf(1_024);
    const one = "h p 1";
    for (let at = 0; at < 6; at++) endpoints.started(one, NOW);
    for (let at = 0; at < 5; at++) endpoints.failed(one, NOW);
    endpoints.hold(one, NOW + 3_600_000, NOW);
    // It was under way before: nothing is known of an operator yet.
    endpoints.succeeded(one, NOW);
    const later = NOW + 60_000;
    const turns = [0, 1].map(() => {
      endpoints.started(one, later);
      return endpoints[outcome](one, later);
    });
    for (const turn of turns) if (turn.kind !== "same") assert.ok(turn.until <= later + 60_000, JSON.stringify(turn));
    assert.equal(take(endpoints, [one], 1, later + 60_000), [one]);
  }
});

test("a rate is kept to, with a second's worth at once", () => {
  const endpoints = endpointsOf(1_024);
  const one = "h p 1";
  endpoints.limit(one, 10);
  let started = 0;
  for (let at = 0; at <= 10_000; at += 50) {
    for (const name of take(endpoints, [one], 1_000, NOW + at)) {
      started += 1;
      endpoints.succeeded(name, NOW + at);
    }
  }
  assert.ok(started >= 100 && started <= 111, String(started));
  endpoints.limit(one, 0.5);
  const slow = Array.from({ length: 400 }, (_, at) => take(endpoints, [one], 1_000, NOW + 20_000 + at * 50).length);
  assert.ok(slow.reduce((sum, count) => sum + count, 0) <= 11);
});

test("what began before an endpoint was resumed is told from what comes after, and no clock that was set back hides that", () => {
  const endpoints = endpointsOf(64);
  assert.equal(take(endpoints, ["h p 0"], 64), ["h p 0"]);
  assert.not.ok(endpoints.resumedSince("h p 0", NOW - 1));
  endpoints.resumed("h p 0", NOW);
  assert.ok(endpoints.resumedSince("h p 0", NOW - 1));
  assert.not.ok(endpoints.resumedSince("h p 0", NOW));
  assert.not.ok(endpoints.resumedSince("h p 1", NOW - 1));
  endpoints.pull(NOW - 3_600_000);
  assert.not.ok(endpoints.resumedSince("h p 0", NOW - 3_600_000));
});

test.run();
