/**
 * Wakes workers when jobs were added. A transaction that notified would hold a lock of the whole server while it commits,
 * and commits would go one by one: so whoever added jobs says so after the commit, seldom, and outside it. Of a
 * transaction of the application a client of `pg` tells when it has ended; of one of another library nobody does, and
 * workers look a few times, ever later.
 */

/** Least time between two notifications of this instance, in milliseconds. */
const NOTIFY_MS = 5;
/** When workers look after jobs were added in a transaction of the application's, in milliseconds. */
const LOOKS_MS = [4, 12, 40, 120, 400] as const;

export class Waker {
  readonly #listeners = new Set<() => void>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #notifying = false;
  #notified = Number.NEGATIVE_INFINITY;
  /** Looks that are to come: one for each of `LOOKS_MS` is enough for all that is added meanwhile. */
  readonly #looks = new Set<number>();

  /** @param notify tells other instances; what it throws is made up for by their polling */
  constructor(readonly notify: () => Promise<unknown>) {}

  onWake(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** There may be something to lease. */
  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Jobs were committed here. */
  committed(): void {
    this.wake();
    if (this.#notifying) return;
    this.#notifying = true;
    const pause = this.#notified + NOTIFY_MS - performance.now();
    const tell = (): void => {
      this.#notifying = false;
      this.#notified = performance.now();
      this.notify().catch(() => undefined);
    };
    // A timer would wait for a millisecond at least, which is half of the way to the receiver.
    if (pause <= 0) setImmediate(tell);
    else this.#after(pause, tell);
  }

  /** Jobs were added in a transaction that somebody else commits. */
  soon(): void {
    for (const ms of LOOKS_MS) {
      if (this.#looks.has(ms)) continue;
      this.#looks.add(ms);
      this.#after(ms, () => {
        this.#looks.delete(ms);
        this.committed();
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
