/** Requests at a fixed rate, whatever comes of them: what waits behind a slow one is measured from when it was due. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Latencies {
  /** In milliseconds, shortest first. */
  readonly sorted: readonly number[];
  readonly count: number;
  /** Latency in milliseconds below which a share of all lies. */
  at(share: number): number;
}

export function latencies(measured: readonly number[]): Latencies {
  const sorted = [...measured].sort((a, b) => a - b);
  return {
    sorted,
    count: sorted.length,
    at: (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN,
  };
}

/** All of several measurements as one. */
export const pooled = (measured: readonly Latencies[]): Latencies =>
  latencies(measured.flatMap(({ sorted }) => sorted));

/**
 * @param rate requests a second
 * @param request makes the n-th of them; a rejection ends the measurement
 */
export async function openLoop(
  rate: number,
  count: number,
  request: (n: number) => Promise<unknown>,
): Promise<Latencies> {
  const measured: number[] = [];
  const pending: Promise<void>[] = [];
  const started = performance.now() + 50;
  for (let n = 0; n < count; n++) {
    const due = started + (n * 1_000) / rate;
    // A timer may be a millisecond late; the rest is waited for by turns of the event loop.
    const left = due - performance.now();
    if (left > 3) await sleep(left - 2);
    while (performance.now() < due) await new Promise(setImmediate);
    pending.push(
      request(n).then(() => {
        measured.push(performance.now() - due);
      }),
    );
  }
  await Promise.all(pending);
  return latencies(measured);
}

/** Requests a second that `concurrency` callers get done, each asking again as soon as it is answered. */
export async function closedLoop(
  concurrency: number,
  count: number,
  request: (n: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const started = performance.now();
  const caller = async (): Promise<void> => {
    while (next < count) await request(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  return count / ((performance.now() - started) / 1_000);
}
