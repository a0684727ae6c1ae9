/** How often this instance has handled events again because the store had failed, and no failure was counted. */

/**
 * How often the store may fail within the effect of one event before that is the effect's failure: one that ends its connection each
 * time, as by a query that the server does not survive or by idling in its transaction, looks like an outage and would never be given
 * up. In an outage no effect begins: the store has removed its event before.
 */
const WITHIN_EFFECT = 5;
/** Most times that the delay until the next run is doubled. */
const DOUBLED = 5;
/** Events that are remembered; the oldest go first. */
const REMEMBERED_EVENTS = 10_000;

interface PutOff {
  readonly times: number;
  /** Of them, those that the effect may have brought about. */
  readonly within: number;
}

/** Remembered here only: the store is what fails. */
export class PutOffs {
  readonly #events = new Map<number, PutOff>();

  /**
   * One time more, for a fault that looks like the store's.
   * @param suspect whether the effect may have brought it about
   * @returns how often the delay is to be doubled; undefined where the fault is the application's after all
   */
  add(id: number, suspect: boolean): number | undefined {
    const { times, within } = this.#events.get(id) ?? { times: 0, within: 0 };
    if (suspect && within >= WITHIN_EFFECT) return undefined;
    this.#events.delete(id);
    this.#events.set(id, { times: times + 1, within: within + Number(suspect) });
    if (this.#events.size > REMEMBERED_EVENTS) this.#events.delete(this.#events.keys().next().value!);
    return Math.min(times, DOUBLED);
  }

  /** The event is gone, or given up. */
  forget(id: number): void {
    this.#events.delete(id);
  }
}
