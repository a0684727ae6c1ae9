/**
 * Wakes workers when jobs were added. A transaction that notifies holds a lock of the whole server while it commits, and if all
 * did commits would go one by one: where little is added, a transaction says it as it commits, which is soonest; else whoever
 * added jobs says so after the commit, seldom, and outside it. Of a transaction of the application a client of `pg` tells
 * when it has ended; of one of another library nobody does, and workers look a few times, ever later.
 */
import { NamedEndpoints } from "./named-endpoints.js";

/** Least time between two notifications of this instance, in milliseconds. */
const NOTIFY_MS = 5;
/** Least time between two transactions that notify as they commit, in milliseconds. */
const WITHIN_MS = 10;
/**
 * Where its end took longer, so many times the square of its milliseconds: on slow disks, or where many instances do the same
 * and wait for each other, notifying after the commit costs little beside it. Together they use a part of that lock only.
 */
const WITHIN_TIMES = 2;
/** One that was left open for long after its last statement keeps others from it no longer than that, in milliseconds. */
const WITHIN_MOST_MS = 10_000;
/** One that does not tell when it ends is taken to last so long, in milliseconds. */
const UNTOLD_MS = 1_000;
/** When workers look after jobs were added in a transaction of the application's, in milliseconds. */
const LOOKS_MS = [4, 12, 40, 120, 400] as const;

/** @param endpoints those that jobs were added for; none where it is not known which */
export type WakeListener = (endpoints: readonly string[]) => void;

export class Waker {
  readonly #listeners = new Set<WakeListener>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #notifying = false;
  /** What others are told next, and what is told at the looks that are to come. */
  readonly #named = new NamedEndpoints();
  readonly #soon = new NamedEndpoints();
  #notified = Number.NEGATIVE_INFINITY;
  /** When the last transaction that notifies as it commits began, and when the next one may. */
  #within = 0;
  #mayFrom = Number.NEGATIVE_INFINITY;
  /** Looks that are to come: one for each of `LOOKS_MS` is enough for all that is added meanwhile. */
  readonly #looks = new Set<number>();

  /** @param notify tells other instances; what it throws is made up for by their polling */
  constructor(readonly notify: (endpoints: readonly string[]) => Promise<unknown>) {}

  onWake(listener: WakeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** One of them is notified, unless it is forgotten. */
  tell(listener: WakeListener, endpoints: readonly string[]): void {
    if (this.#listeners.has(listener)) listener(endpoints);
  }

  /** There may be something to lease. */
  wake(endpoints: readonly string[] = []): void {
    for (const listener of this.#listeners) listener(endpoints);
  }

  /** Whether a transaction that adds jobs now is to notify as it commits: one at a time does, and not often. */
  mayNotify(): boolean {
    const now = performance.now();
    if (now < this.#mayFrom) return false;
    this.#within = now;
    this.#mayFrom = now + UNTOLD_MS;
    return true;
  }

  /**
   * A transaction has ended that notifies by itself.
   * @param endMs what its end took, in milliseconds, where that is known: only then it holds that lock
   */
  notified(endpoints: readonly string[], endMs?: number): void {
    this.wake(endpoints);
    const now = performance.now();
    const pause = WITHIN_TIMES * (endMs ?? now - this.#within) ** 2;
    this.#mayFrom = now + Math.min(WITHIN_MOST_MS, Math.max(WITHIN_MS, pause));
  }

  /** Jobs were committed here. */
  committed(endpoints: readonly string[] = []): void {
    this.wake(endpoints);
    this.#named.add(endpoints);
    if (this.#notifying) return;
    this.#notifying = true;
    const pause = this.#notified + NOTIFY_MS - performance.now();
    const tell = (): void => {
      this.#notifying = false;
      this.#notified = performance.now();
      const { names } = this.#named;
      this.#named.clear();
      this.notify(names).catch(() => undefined);
    };
    // A timer would wait for a millisecond at least, which is half of the way to the receiver.
    if (pause <= 0) setImmediate(tell);
    else this.#after(pause, tell);
  }

  /** Jobs were added in a transaction that somebody else commits. */
  soon(endpoints: readonly string[]): void {
    this.#soon.add(endpoints);
    for (const ms of LOOKS_MS) {
      if (this.#looks.has(ms)) continue;
      this.#looks.add(ms);
      this.#after(ms, () => {
        this.#looks.delete(ms);
        this.committed(this.#soon.names);
        if (this.#looks.size === 0) this.#soon.clear();
      });
    }
  }

  close(): void {
    this.#listeners.clear();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #after(ms: number, work: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms).unref();
    this.#timers.add(timer);
    return timer;
  }
}
