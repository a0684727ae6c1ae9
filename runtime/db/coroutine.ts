/**
 * One body for synchronous and asynchronous use. A coroutine is a generator that yields the promises it meets: `runAsync`
 * waits for them, and `runSync` runs a coroutine that meets none to its end at once, as SQLite's transactions need it.
 * docs/database.md explains it with an example.
 */
import type { MaybePromise } from "../contract/index.js";
import { AdbindError } from "../errors.js";

/** A computation that may wait, and whose caller decides whether it can. Nothing of it runs before it is run. */
export type Coroutine<T> = Generator<Promise<unknown>, T, unknown>;

/** The one test of what may be waited for: a promise of any kind, also of another realm or library. */
export const isPromise = <T>(value: MaybePromise<T>): value is Promise<T> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";

/** The value itself, after waiting where it is a promise. Use as `const row = yield* wait(load())`. */
export function* wait<T>(value: MaybePromise<T>): Coroutine<T> {
  // A generator's `yield` has one type for all its uses; what comes back is what was yielded, fulfilled.
  return isPromise(value) ? ((yield value) as T) : value;
}

/** Runs a coroutine to its end, waiting where it yields. Rejects with what it throws. */
export async function runAsync<T>(coroutine: Coroutine<T>): Promise<T> {
  let step = coroutine.next();
  while (!step.done) {
    let value: unknown;
    try {
      value = await step.value;
    } catch (error) {
      step = coroutine.throw(error);
      continue;
    }
    step = coroutine.next(value);
  }
  return step.value;
}

/** A coroutine that has begun. */
export interface Begun<T> {
  /** It waits for something. */
  readonly waits: boolean;
  /** What remains of it. */
  readonly rest: Coroutine<T>;
}

/** Runs a coroutine to where it first waits: what it asks for is on its way while its caller does something else. */
export function begin<T>(coroutine: Coroutine<T>): Begun<T> {
  const first = coroutine.next();
  // Nobody waits for it yet; where its caller fails meanwhile, nobody will.
  if (!first.done) first.value.catch(() => undefined);
  return { waits: first.done !== true, rest: resumed(coroutine, first) };
}

function* resumed<T>(coroutine: Coroutine<T>, first: IteratorResult<Promise<unknown>, T>): Coroutine<T> {
  let step = first;
  while (!step.done) {
    let value: unknown;
    try {
      value = yield step.value;
    } catch (error) {
      step = coroutine.throw(error);
      continue;
    }
    step = coroutine.next(value);
  }
  return step.value;
}

const refusal = (): AdbindError =>
  new AdbindError("source_asynchronous", "a promise came up where nothing can wait", {
    where: "synchronous code",
    remedy: "use the asynchronous function, or sources that answer without a promise",
  });

/**
 * Runs a coroutine that must not wait, and throws what it throws.
 * @param refuse makes the error for one that meets a promise; the coroutine is ended there, its `finally` blocks run
 * @throws AdbindError `source_asynchronous` unless `refuse` makes another
 */
export function runSync<T>(coroutine: Coroutine<T>, refuse: () => Error = refusal): T {
  const step = coroutine.next();
  if (step.done) return step.value;
  // Nobody will look at this promise any more; its rejection must not end the process.
  step.value.then(undefined, () => undefined);
  const error = refuse();
  coroutine.return(undefined as T);
  throw error;
}

/** Work on what has first to be waited for. */
export function* inJoined<Q, T>(joining: Coroutine<Q>, work: (query: Q) => Coroutine<T>): Coroutine<T> {
  return yield* work(yield* joining);
}
