/** One body that runs at once or waits. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { MaybePromise } from "../../runtime/contract.js";
import { begin, type Coroutine, isPromise, runAsync, runSync, wait } from "../../runtime/db/coroutine.js";
import { AdbindError } from "../../runtime/errors.js";

function* sum(load: (n: number) => MaybePromise<number>): Coroutine<number> {
  let total = 0;
  for (const n of [1, 2, 3]) total += yield* wait(load(n));
  return total;
}

test("runs at once where nothing is a promise, and waits where something is", async () => {
  assert.is(runSync(sum((n) => n)), 6);
  assert.is(await runAsync(sum((n) => n)), 6);
  assert.is(await runAsync(sum(async (n) => n * 2)), 12);
  assert.is(await runAsync(sum((n) => (n === 2 ? Promise.resolve(n) : n))), 6);
});

test("what a promise rejects with is caught where it is waited for", async () => {
  function* careful(): Coroutine<string> {
    try {
      yield* wait(Promise.reject(new Error("no")));
      return "yes";
    } catch (error) {
      return (error as Error).message;
    }
  }
  assert.is(await runAsync(careful()), "no");
});

test("a coroutine that may not wait ends at the first promise, its own clean-up done", async () => {
  let cleaned = false;
  function* waiting(): Coroutine<number> {
    try {
      // Rejects later: nobody looks, and the process must not end by it.
      return yield* wait<number>(Promise.reject(new Error("later")));
    } finally {
      cleaned = true;
    }
  }
  assert.throws(
    () => runSync(waiting()),
    (error: unknown) => error instanceof AdbindError && error.code === "source_asynchronous",
  );
  assert.ok(cleaned);
  assert.throws(() => runSync(waiting(), () => new RangeError("mine")), /mine/);
  await new Promise((resolve) => setImmediate(resolve));
});

test("what has begun is on its way before anybody waits for it", async () => {
  const asked: number[] = [];
  const load = (n: number) => {
    asked.push(n);
    return n === 3 ? Promise.reject(new Error("three")) : Promise.resolve(n);
  };
  const begun = begin(sum(load));
  assert.equal(asked, [1]);
  assert.ok(begun.waits);
  assert.is(await runAsync(begun.rest).catch((error: Error) => error.message), "three");
  const over = begin(sum((n) => n));
  assert.not(over.waits);
  assert.is(runSync(over.rest), 6);
  // Left alone, it ends no process.
  begin(wait(Promise.reject(new Error("nobody looks"))));
  await new Promise((resolve) => setImmediate(resolve));
});

test("what is thrown is thrown", async () => {
  // biome-ignore lint/correctness/useYield: throws before it could wait
  function* bad(): Coroutine<number> {
    throw new TypeError("bad");
  }
  assert.throws(() => runSync(bad()), /bad/);
  assert.is(await runAsync(bad()).catch((error: Error) => error.message), "bad");
});

test("anything with a then is a promise", () => {
  class Thenable {
    constructor(readonly given: unknown) {}
    // biome-ignore lint/suspicious/noThenProperty: what libraries call a promise
    get then() {
      return this.given;
    }
  }
  assert.ok(isPromise(new Thenable(() => undefined)));
  for (const other of [null, undefined, 0, "then", {}, new Thenable(1), () => undefined]) assert.not(isPromise(other));
});

test.run();
