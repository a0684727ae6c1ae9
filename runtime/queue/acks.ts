/** What became of attempts, on its way to the queue: many in a transaction, and told again until it is written. */
import { isPassingFault, isValueFault } from "../db/open.js";
import { AdbindError } from "../errors.js";
import { timerMs } from "../timers.js";
import type { Ack, AckEffect, Queue } from "./types.js";

/** Acknowledging transactions at a time: another is made up while the first is flushed to disk, where much comes. */
const WRITES = 2;
/** So many need not wait for others to share their transaction. */
const ENOUGH = 128;
/** What a fault of the queue waits before the next try, in milliseconds. */
const FAULT_DELAY_MS = 500;
/** How long rows are waited for that another transaction is known to hold, and how long when it is to stop, in milliseconds. */
const BUSY_WAIT_MS = 3_000;
const LAST_WAIT_MS = 1_000;
/** Between two such waits, in milliseconds. */
const BUSY_PAUSE_MS = 50;
/** Tries in a row that fail by its own fault, each twice as long after the one before: then its job is set aside. */
const APART_TRIES = 3;

export interface AcksOptions {
  readonly queue: Pick<Queue, "ack" | "health">;
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

/** One that cannot be written, whatever else can. */
interface Faulty {
  readonly pending: PendingAck;
  readonly error: unknown;
}

interface Unwritten {
  /** Of a queue that is away. */
  readonly left: readonly PendingAck[];
  readonly faulty: readonly Faulty[];
  /** Another transaction holds what they have to write. */
  readonly busy: readonly PendingAck[];
  readonly error?: unknown;
}

/** For all of them alike. */
const isAway = (error: unknown): boolean =>
  isPassingFault(error) || (error instanceof AdbindError && /_(busy|unreachable)$/.test(error.code));

/** Of the values that were to be written, or of what was to write them: not of a database that is away, or may write nothing now. */
const isOwn = (error: unknown): boolean =>
  isValueFault(error) || (!isAway(error) && (error as { code?: unknown } | null)?.code === undefined);

/** Whatever became of it cannot be written: somebody is to look at it. */
function setAside({ job, outcome }: Ack, error: unknown): Ack {
  const why = (error instanceof Error ? error.message : String(error)).replaceAll("\0", "");
  const told = `its attempt ended (${outcome.kind}), and what is kept of it cannot be written: ${why}`;
  return { job, outcome: { kind: "refused", error: told } };
}

const heldRows = (jobs: number): AdbindError =>
  new AdbindError("database_busy", `another transaction holds what ${jobs} attempts have to be written to`, {
    remedy: "they are written once it ends; look for a transaction of the application's that was left open",
  });

export class Acks {
  readonly #pending: PendingAck[] = [];
  readonly #writes = new Set<Promise<void>>();
  /** Of those that are tried apart: ends their wait. */
  readonly #apart = new Set<() => void>();
  /** Those whose rows others hold, until they are tried again. */
  readonly #busy: PendingAck[] = [];
  #waitsForRows = false;
  /** How many of them there were when it was told of last. */
  #busyTold = 0;
  #enough = (): void => undefined;
  /** Set once nobody waits for a database that is away. */
  #givenUp = false;
  /** Set once nothing more is written. */
  #closed = false;

  constructor(readonly options: AcksOptions) {}

  /** @returns whether the token was still the job's; false too where it was given up to be written */
  push(ack: Ack): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
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
    for (const hurry of this.#apart) hurry();
  }

  /** What comes from now on is left to its lease: whoever has waited for a stop closes the database next. */
  close(): void {
    this.giveUp();
    this.#closed = true;
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
      const timer = setTimeout(resolve, timerMs(this.options.gatherMs));
      this.#enough = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #writeAll(batch: readonly PendingAck[]): Promise<void> {
    const { onFault } = this.options;
    if (batch.length === 0) return;
    const { left, error } = await this.#some(batch);
    if (left.length === 0) return;
    // A full disk, a database away: what happened stays known here and is written when it can be.
    onFault(error);
    this.#pending.unshift(...left);
    await new Promise((resolve) => setTimeout(resolve, FAULT_DELAY_MS));
    if (this.#givenUp) for (const { tell } of this.#pending.splice(0)) tell(false);
  }

  /** Writes what can be written of them. What can not by itself goes on apart. @returns what has to wait, with all others */
  async #some(batch: readonly PendingAck[], waitMs?: number): Promise<Pick<Unwritten, "left" | "error">> {
    const { written, onFault } = this.options;
    const { left, faulty, busy, error } = await this.#tryAll(batch, waitMs);
    if (left.length + faulty.length + busy.length < batch.length) written();
    for (const one of faulty) {
      onFault(one.error);
      this.#writeApart(one).catch(onFault);
    }
    this.#waitForRows(busy);
    return { left, error };
  }

  /** What cannot be written of one job keeps no other's: where it fails, it is tried in ever smaller parts. */
  async #tryAll(batch: readonly PendingAck[], waitMs?: number): Promise<Unwritten> {
    const { queue, effect, now } = this.options;
    try {
      const acks = batch.map(({ ack }) => ack);
      const results = await queue.ack(acks, now(), effect, waitMs);
      const [busy, failed]: [PendingAck[], PendingAck[]] = [[], []];
      for (const [at, pending] of batch.entries()) {
        const result = results[at]!;
        if (result === "busy") busy.push(pending);
        else if (typeof result === "object") failed.push(pending);
        else pending.tell(result);
      }
      if (failed.length === 0) return { left: [], faulty: [], busy };
      // By themselves what keeps them from being written is told of them.
      const others = await this.#tryAll(failed);
      return { ...others, busy: [...busy, ...others.busy] };
    } catch (error) {
      // Who stops tries no parts.
      if (isAway(error) || this.#givenUp) return { left: batch, faulty: [], busy: [], error };
      if (batch.length === 1) return { left: [], faulty: [{ pending: batch[0]!, error }], busy: [] };
      const half = Math.ceil(batch.length / 2);
      const first = await this.#tryAll(batch.slice(0, half));
      const second = await this.#tryAll(batch.slice(half));
      return {
        left: [...first.left, ...second.left],
        faulty: [...first.faulty, ...second.faulty],
        busy: [...first.busy, ...second.busy],
        error: first.error ?? second.error,
      };
    }
  }

  /** They are tried again together, while the others go on: it may take as long as somebody leaves a transaction open. */
  #waitForRows(busy: readonly PendingAck[]): void {
    this.#busy.push(...busy);
    if (this.#busy.length === 0 || this.#waitsForRows) return;
    this.#tellBusy();
    this.#writeBusy().catch(this.options.onFault);
  }

  /** When they have become twice as many, or half as many: not at each look. */
  #tellBusy(): void {
    const now = this.#busy.length;
    if (now === 0 || (now < 2 * this.#busyTold && 2 * now > this.#busyTold)) return;
    this.#busyTold = now;
    this.options.onFault(heldRows(now));
  }

  async #writeBusy(): Promise<void> {
    this.#waitsForRows = true;
    let pauseMs = BUSY_PAUSE_MS;
    while (this.#busy.length > 0) {
      await this.#wait(pauseMs);
      // Whoever waits for the rows has them before others can lease them. Who stops waits once more, for less.
      const { left, error } = await this.#some(this.#busy.splice(0), this.#givenUp ? LAST_WAIT_MS : BUSY_WAIT_MS);
      if (left.length > 0) this.options.onFault(error);
      pauseMs = left.length > 0 ? FAULT_DELAY_MS : BUSY_PAUSE_MS;
      this.#busy.push(...left);
      if (this.#givenUp) for (const { tell } of this.#busy.splice(0)) tell(false);
      this.#tellBusy();
    }
    this.#busyTold = 0;
    // In the same turn as the last look: nobody is left behind between the two.
    this.#waitsForRows = false;
  }

  /**
   * Tries one by itself, while the others go on: the database may be away. Where it is not, and it fails again and again, its job
   * is set aside without what else would have been written.
   */
  async #writeApart({ pending, error: first }: Faulty): Promise<void> {
    const { queue, effect, now, onFault, written } = this.options;
    let [error, own] = [first, 0];
    for (let tries = 0; !this.#givenUp; tries++) {
      await this.#wait(FAULT_DELAY_MS * 2 ** Math.min(tries, APART_TRIES));
      if (this.#givenUp) break;
      const aside = own >= APART_TRIES;
      try {
        const given = aside ? setAside(pending.ack, error) : pending.ack;
        const [result] = await queue.ack([given], now(), aside ? undefined : effect);
        if (typeof result !== "boolean") continue;
        pending.tell(result);
        written();
        return;
      } catch (fault) {
        error = fault;
        onFault(fault);
        if (isOwn(fault) && (await this.#answers(pending.ack))) own += 1;
        else own = 0;
      }
    }
    pending.tell(false);
  }

  /** Does the database, now that a write to it has failed? */
  #answers({ job }: Ack): Promise<boolean> {
    return this.options.queue.health(job.endpoint).then(
      () => true,
      () => false,
    );
  }

  #wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#givenUp ? 0 : ms);
    this.#apart.add(resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#apart.delete(resolve);
    });
  }
}
