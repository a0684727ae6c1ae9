/** What became of attempts, on its way to the queue: many in a transaction, and told again until it is written. */
import type { Ack, AckEffect, Queue } from "./types.js";

/** Acknowledging transactions at a time: another is made up while the first is flushed to disk, where much comes. */
const WRITES = 2;
/** How long an acknowledgement waits for others to share its transaction, in milliseconds, and how many are enough. */
const GATHER_MS = 16;
const ENOUGH = 64;
/** What a fault of the queue waits before the next try, in milliseconds. */
const FAULT_DELAY_MS = 500;

export interface AcksOptions {
  readonly queue: Pick<Queue, "ack">;
  readonly effect?: AckEffect | undefined;
  readonly now: () => number;
  /** More attempts are under way, which may end soon. */
  readonly moreToCome: () => boolean;
  /** @param written the token was still the job's */
  readonly acked: (ack: Ack, written: boolean) => void;
  /** A transaction of them was written. */
  readonly written: () => void;
  readonly onFault: (error: unknown) => void;
}

export class Acks {
  #pending: Ack[] = [];
  readonly #writes = new Set<Promise<void>>();
  #enough = (): void => undefined;
  /** Set once nobody waits for a database that is away. */
  #givenUp: ((ack: Ack) => void) | undefined;

  constructor(readonly options: AcksOptions) {}

  push(ack: Ack): void {
    this.#pending.push(ack);
    if (this.#pending.length >= ENOUGH) this.#enough();
    this.#soon();
  }

  get under(): boolean {
    return this.#writes.size > 0;
  }

  async allWritten(): Promise<void> {
    await Promise.all(this.#writes);
  }

  /**
   * From now on a fault of the queue is not waited for: the leases end by themselves, and the attempts are made again.
   * @param abandoned told what is left
   */
  giveUp(abandoned: (ack: Ack) => void): void {
    this.#givenUp = abandoned;
  }

  #soon(): void {
    if (this.#writes.size >= (this.#pending.length < ENOUGH ? 1 : WRITES)) return;
    const write = this.#write().finally(() => {
      this.#writes.delete(write);
      if (this.#pending.length > 0) this.#soon();
    });
    this.#writes.add(write);
  }

  async #write(): Promise<void> {
    // The attempts that end in the same turn of the event loop share a transaction.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.length > 0) {
      if (this.#pending.length < ENOUGH && this.options.moreToCome()) await this.#gather();
      await this.#writeAll(this.#pending.splice(0));
    }
  }

  #gather(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.#enough = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #writeAll(batch: Ack[]): Promise<void> {
    const { queue, effect, now, acked, written, onFault } = this.options;
    if (batch.length === 0) return;
    try {
      const flags = await queue.ack(batch, now(), effect);
      for (const [at, ack] of batch.entries()) acked(ack, flags[at]!);
      written();
    } catch (error) {
      // A full disk, a database away: what happened stays known here and is written when it can be.
      onFault(error);
      this.#pending.unshift(...batch);
      await new Promise((resolve) => setTimeout(resolve, FAULT_DELAY_MS));
      if (this.#givenUp !== undefined) for (const ack of this.#pending.splice(0)) this.#givenUp(ack);
    }
  }
}
