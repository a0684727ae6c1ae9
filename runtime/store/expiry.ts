/** Rows that expire: each kind is removed on its own, so that a fault of one leaves the others their turn. */
import type { Coroutine } from "../db/coroutine.js";
import { SWEEP_LIMIT_ROWS } from "./rows.js";
import type { Expiring, SweepResult } from "./types.js";

/** One kind of rows that expire, removed in a transaction of the caller's. */
export interface ExpiringIn<Tx> {
  readonly what: string;
  /** @returns how many rows */
  remove(tx: Tx, now: number, limit: number): Coroutine<number>;
}

/**
 * Removes what has expired of each kind, a bounded number of rows.
 * @throws what one kind met, or an AggregateError of several, when each has had its turn
 */
export async function sweepEach(
  expiring: readonly Expiring[],
  now: number,
  limit = SWEEP_LIMIT_ROWS,
): Promise<SweepResult> {
  const done = await Promise.allSettled(expiring.map(({ remove }) => remove(now, limit)));
  throwFaults(done.filter((one) => one.status === "rejected").map(({ reason }) => reason as unknown));
  const counts = done.map((one) => (one.status === "fulfilled" ? one.value : 0));
  const sum = (lost: boolean): number =>
    counts.reduce((total, count, at) => total + ((expiring[at]?.lost ?? false) === lost ? count : 0), 0);
  return { removed: sum(false), deadLettered: sum(true), more: Math.max(...counts) >= limit };
}

/** @throws what one kind met, or an AggregateError of several */
export function throwFaults(faults: readonly unknown[]): void {
  if (faults.length === 1) throw faults[0];
  if (faults.length > 1)
    throw new AggregateError(faults, `${faults.length} kinds of expired rows could not be removed`);
}
