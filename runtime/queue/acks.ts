/** What became of attempts, on its way to the queue: many in a transaction, and told again until it is written. */
import type { Ack, AckEffect, Queue } from "./types.js";

/** Acknowledging transactions at a time: another is made up while the first is flushed to disk, where much comes. */
const WRITES = 2;
/** So many need not wait for others to share their transaction. */
const ENOUGH = 128;
/** What a fault of the queue waits before the next try, in milliseconds. */
const FAULT_DELAY_MS = 500;

export interface AcksOptions {
  readonly queue: Pick<Queue, "ack">;
  readonly effect?: AckEffect | undefined;
  /** How long an acknowledgement waits for others to share its transaction, at most, in milliseconds. */
  readonly gatherMs: number;
  readonly now: () => number;
  /** More attempts are under way, which may end soon. */
  readonly moreToCome: () => boolean;
  /** A transaction of them was written. */
  readonly written: () => void;
  readonly onFault: (error: unknown) => void;
}

interface PendingAck {
  readonly ack: Ack;
  readonly tell: (written: boolean) => void;
}

export class Acks {
  readonly #pending: PendingAck[] = [];
  readonly #writes = new Set<Promise<void>>();
  #enough = (): void => undefined;
  /** Set once nobody waits for a database that is away. */
  #givenUp = false;

  constructor(readonly options: AcksOptions) {}

  /** @returns whether the token was still the job's; false too where it was given up to be written */
  push(ack: Ack): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#pending.push({ ack, tell: resolve });
    if (!this.#worthWaiting) this.#enough();
    this.#soon();
    return promise;
  }

  async allWritten(): Promise<void> {
    await Promise.all(this.#writes);
  }

  /** From now on a fault of the queue is not waited for: the leases end by themselves, and the attempts are made again. */
  giveUp(): void {
    this.#givenUp = true;
  }

  /** Others will come soon, and are to share the transaction. */
  get #worthWaiting(): boolean {
    return this.#pending.length < ENOUGH && this.options.moreToCome();
  }

  #soon(): void {
    if (this.#writes.size >= (this.#pending.length < ENOUGH ? 1 : WRITES)) return;
    const write = this.#write()
      .catch(this.options.onFault)
      .finally(() => {
        this.#writes.delete(write);
        if (this.#pending.length > 0) this.#soon();
      });
    this.#writes.add(write);
  }

  async #write(): Promise<void> {
    // The attempts that end in the same turn of the event loop share a transaction.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.length > 0) {
      if (this.#worthWaiting) await this.#gather();
      await this.#writeAll(this.#pending.splice(0));
    }
  }

  #gather(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.options.gatherMs);
      this.#enough = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #writeAll(batch: readonly PendingAck[]): Promise<void> {
    const { queue, effect, now, written, onFault } = this.options;
    if (batch.length === 0) return;
    try {
      const acks = batch.map(({ ack }) => ack);
      const flags = await queue.ack(acks, now(), effect);
      for (const [at, { tell }] of batch.entries()) tell(flags[at]!);
      written();
    } catch (error) {
      // A full disk, a database away: what happened stays known here and is written when it can be.
      onFault(error);
      this.#pending.unshift(...batch);
      await new Promise((resolve) => setTimeout(resolve, FAULT_DELAY_MS));
      if (this.#givenUp) for (const { tell } of this.#pending.splice(0)) tell(false);
    }
  }
}
