/**
 * One body for synchronous and asynchronous use: a flow yields the promises it meets, and where every source answers
 * without one it never yields at all.
 */
import type { MaybePromise } from "../contract.js";
import { AdbindError } from "../errors.js";

export type Flow<T> = Generator<Promise<unknown>, T, unknown>;

/** The one test of what may be waited for: a promise of any kind, also of another realm or library. */
export const isPromise = <T>(value: MaybePromise<T>): value is Promise<T> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";

/** The settled value: at once where it is no promise. Use as `yield* settle(...)`. */
export function* settle<T>(value: MaybePromise<T>): Flow<T> {
  return isPromise(value) ? ((yield value) as T) : value;
}

/** Runs a flow to its end, waiting only where it yields. */
export async function run<T>(flow: Flow<T>): Promise<T> {
  let next = flow.next();
  while (!next.done) {
    let value: unknown;
    try {
      value = await next.value;
    } catch (error) {
      next = flow.throw(error);
      continue;
    }
    next = flow.next(value);
  }
  return next.value;
}

/**
 * Runs a flow that must not wait.
 * @throws AdbindError `source_asynchronous` when a source answers with a promise
 */
export function runSync<T>(flow: Flow<T>): T {
  const next = flow.next();
  if (next.done) return next.value;
  // Nobody will look at this promise any more; its rejection must not end the process.
  next.value.catch(() => undefined);
  throw new AdbindError("source_asynchronous", "A key source, store or crypto backend answered with a promise", {
    where: "synchronous signing",
    remedy: "use the asynchronous function, or sources that answer without one",
  });
}
