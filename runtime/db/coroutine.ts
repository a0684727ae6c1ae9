/**
 * One body for synchronous and asynchronous use. A coroutine is a generator that yields the promises it meets: `runAsync`
 * waits for them, and `runSync` runs a coroutine that meets none to its end at once, as SQLite's transactions need it.
 * docs/database.md explains it with an example.
 */
import { AdbindError } from "../errors.js";

/** A value, or the promise of one. */
export type MaybePromise<T> = T | Promise<T>;

/** A computation that may wait, and whose caller decides whether it can. Nothing of it runs before it is run. */
export type Coroutine<T> = Generator<PromiseLike<unknown>, T, unknown>;

/** Anything that can be awaited; what other libraries call a promise need not be one of ours. */
export const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";

/** The value itself, after waiting where it is a promise. Use as `const row = yield* wait(load())`. */
export function* wait<T>(value: T | PromiseLike<T>): Coroutine<T> {
  // A generator's `yield` has one type for all its uses; what comes back is what was yielded, fulfilled.
  return (isPromise(value) ? yield value : value) as T;
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
