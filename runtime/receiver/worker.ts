/** Runs handlers for what the inbox holds: the events just accepted at once, all others as they fall due. */
import { randomUUID } from "node:crypto";
import { createPeriodic, type Telling, tellLog } from "../queue/periodic.js";
import type { Expiring, InboxEvent, Lease } from "../store/types.js";
import type { EventContent } from "./envelope.js";
import { faultText, handlerRuns } from "./runs.js";
import type { ReceiverConfig } from "./settings.js";
import { sweepSteps } from "./sweep.js";
import { waitingEvents } from "./waiting.js";

/** How often expired state is removed, in milliseconds. */
const SWEEP_MS = 1_000;

export interface InboxWorker {
  /** A lease for an event about to be accepted, or undefined when it is to wait in the store. Give it to `run` or `release`. */
  reserve(): Lease | undefined;
  release(): void;
  /** Handles an event that is leased by `reserve`'s lease, once a handler is free; `read` is its body, read already. */
  run(event: InboxEvent, read: EventContent): void;
  /** There may be due events in the store: look before the next poll, and again when a handler is done. */
  wake(): void;
  start(): void;
  /**
   * Stops taking events, and waits for the handlers that run.
   * @param withinMs longest wait, in milliseconds
   * @returns how many of them were given up
   */
  stop(withinMs?: number): Promise<number>;
  /** Resolves when nothing is running and nothing is due. */
  idle(): Promise<void>;
}

/** One inbox's work. What is taken, what waits at hand and what is given back share its counts. */
class InboxWork<Tx> implements InboxWorker {
  readonly #owner = randomUUID();
  #polls: NodeJS.Timeout | undefined;
  #reserved = 0;
  #stopped = true;
  #polling: Promise<void> | undefined;
  #again = false;
  // Events that waited behind another of their task fall due when that one is done.
  #waiting = false;
  #completions = 0;
  // What comes while every handler is busy waits at hand; once that took too long, in the store, until that is empty.
  #ahead = true;
  readonly #line: ReturnType<typeof waitingEvents>;
  readonly #runs: ReturnType<typeof handlerRuns>;
  readonly #upkeep: ReturnType<typeof upkeepOf>;

  constructor(readonly config: ReceiverConfig<Tx>) {
    this.#line = waitingEvents(config.concurrency);
    this.#runs = handlerRuns(config, this.#owner, {
      onFree: () => {
        const next = this.#stopped ? undefined : this.#line.next();
        if (next !== undefined) this.#runs.run(next.event, next.read);
      },
      onDone: () => {
        this.#completions += 1;
        if (this.#again || this.#waiting) this.#look();
      },
    });
    this.#upkeep = upkeepOf(config, async () => {
      const ids = [...this.#runs.ids(), ...this.#line.ids()];
      if (ids.length > 0) await config.store.inbox.renew(ids, this.#lease());
    });
  }

  #lease(): Lease {
    const { now, leaseSeconds } = this.config;
    return { owner: this.#owner, until: now() + leaseSeconds * 1000 };
  }

  get #free(): number {
    return this.config.concurrency - this.#runs.busy() - this.#reserved - this.#line.count();
  }

  async #giveBack(ids: readonly number[]): Promise<void> {
    const { store, now } = this.config;
    if (ids.length > 0) await store.inbox.releaseLease(ids, { owner: this.#owner, now: now() });
  }

  readonly #tellLeft = (ids: readonly number[]) => (error: unknown) =>
    this.config.log.error({ ids, error: faultText(error) }, "events left to their lease");

  /** Runs an event that is leased, or has it wait its turn: who stops gives it back. */
  #admit(event: InboxEvent, read?: EventContent): void {
    if (this.#runs.busy() < this.config.concurrency) this.#runs.run(event, read);
    else if (this.#stopped) this.#giveBack([event.id]).catch(this.#tellLeft([event.id]));
    else this.#line.add({ event, read });
  }

  async #poll(): Promise<void> {
    const { store, now } = this.config;
    while (!this.#stopped && this.#free > 0) {
      this.#again = false;
      const limit = this.#free;
      const before = this.#completions;
      this.#reserved += limit;
      let events: InboxEvent[];
      try {
        events = await store.inbox.take({ ...this.#lease(), now: now(), limit });
      } finally {
        this.#reserved -= limit;
      }
      for (const event of events) this.#admit(event);
      if (events.length > 0) continue;
      this.#ahead = true;
      if (this.#runs.count() === 0 && this.#completions === before) this.#waiting = false;
      if (!this.#again) return;
    }
    this.#again = true;
  }

  #look(): void {
    this.#again = true;
    if (this.#stopped || this.#polling !== undefined || this.#free <= 0) return;
    this.#polling = this.#poll()
      .catch((error: unknown) => this.config.log.error({ error: faultText(error) }, "the inbox cannot be read"))
      .finally(() => {
        this.#polling = undefined;
      });
  }

  #tick(): void {
    const ids = this.#line.overdue(this.config.pollMs);
    if (ids.length > 0) this.#ahead = false;
    this.#giveBack(ids)
      .then(() => this.#look())
      .catch(this.#tellLeft(ids));
  }

  reserve(): Lease | undefined {
    const room = this.#ahead && !this.#again && this.#line.hasRoom(this.#runs.count() + this.#reserved);
    if (this.#stopped || !(this.#free > 0 || room)) {
      this.#again = true;
      return undefined;
    }
    this.#reserved += 1;
    return this.#lease();
  }

  release(): void {
    this.#reserved -= 1;
  }

  run(event: InboxEvent, read: EventContent): void {
    this.#reserved -= 1;
    this.#admit(event, read);
  }

  wake(): void {
    this.#waiting = true;
    this.#look();
  }

  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#polls = setInterval(() => this.#tick(), this.config.pollMs).unref();
    this.#upkeep.leases.start();
    this.#upkeep.sweeps.start();
    this.#look();
  }

  async stop(withinMs?: number): Promise<number> {
    const { leases, sweeps } = this.#upkeep;
    this.#stopped = true;
    clearInterval(this.#polls);
    const waited = this.#line.overdue(0);
    const givenBack = this.#giveBack(waited).catch(this.#tellLeft(waited));
    const ended = Promise.all([this.#polling, sweeps.stop(), givenBack]).then(this.#runs.allDone);
    await within(ended, withinMs);
    const left = this.#runs.ids();
    if (left.length > 0)
      this.config.log.warn({ ids: left }, "stopped while handlers ran; their events are left to their lease");
    this.#runs.giveUp();
    // Handlers that are waited for keep their leases meanwhile.
    const renewed = leases.stop();
    if (left.length === 0) await renewed;
    return left.length;
  }

  async idle(): Promise<void> {
    while (!this.#stopped) {
      const before = this.#completions;
      this.#look();
      await this.#polling;
      const busy = this.#runs.count() + this.#reserved + this.#line.count();
      if (busy === 0 && !this.#again && this.#completions === before) return;
      await Promise.race([this.#runs.oneDone(), new Promise((resolve) => setTimeout(resolve, 5))]);
    }
  }
}

export const createInboxWorker = <Tx>(config: ReceiverConfig<Tx>): InboxWorker => new InboxWork(config);

/** Waits for the end of work, but no longer than some milliseconds. */
async function within(ended: Promise<unknown>, ms: number | undefined): Promise<void> {
  if (ms === undefined) return void (await ended);
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([ended, over]).finally(() => clearTimeout(timer));
}

/** What is done beside taking events: leases prolonged, and what has expired removed bit by bit. */
const upkeepOf = <Tx>(config: ReceiverConfig<Tx>, renew: () => Promise<void>) => {
  const telling: Telling = {
    failed: ({ error, ...fault }, message) => config.log.error({ ...fault, error: faultText(error) }, message),
    recovered: tellLog(config.log).recovered,
  };
  const warned = (one: Expiring): Expiring => ({
    ...one,
    async remove(now, limit) {
      const events = await one.remove(now, limit);
      if (one.lost && events > 0) config.log.warn({ events }, `given up: ${one.what}`);
      return events;
    },
  });
  return {
    leases: createPeriodic({
      pauseMs: (config.leaseSeconds * 1000) / 3,
      steps: [
        {
          name: "renew the leases of events that are handled",
          meanwhile: "another instance takes those that last longer than a lease, and handles them too",
          run: renew,
        },
      ],
      telling,
    }),
    sweeps: createPeriodic({
      pauseMs: SWEEP_MS,
      steps: sweepSteps(config.store.expiring.map(warned), config.now),
      telling,
    }),
  };
};
