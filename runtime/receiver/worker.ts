/** Runs handlers for what the inbox holds: the events just accepted at once, all others as they fall due. */
import { randomUUID } from "node:crypto";
import { createPeriodic, type Telling, tellLog } from "../queue/periodic.js";
import type { Expiring, InboxEvent, Lease } from "../store/types.js";
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
  /** Handles an event that is leased by `reserve`'s lease, once a handler is free; `body` is its body, parsed already. */
  run(event: InboxEvent, body: unknown): void;
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

export function createInboxWorker<Tx>(config: ReceiverConfig<Tx>): InboxWorker {
  const { inbox } = config.store;
  const owner = randomUUID();
  let polls: NodeJS.Timeout | undefined;
  let reserved = 0;
  let stopped = true;
  let polling: Promise<void> | undefined;
  let again = false;
  // Events that waited behind another of their task fall due when that one is done.
  let waiting = false;
  let completions = 0;
  // What comes while every handler is busy waits at hand; once that took too long, in the store, until that is empty.
  let ahead = true;

  const line = waitingEvents(config.concurrency);
  const runs = handlerRuns(config, owner, {
    onFree() {
      const next = stopped ? undefined : line.next();
      if (next !== undefined) runs.run(next.event, next.body);
    },
    onDone() {
      completions += 1;
      if (again || waiting) look();
    },
  });
  const lease = (): Lease => ({ owner, until: config.now() + config.leaseSeconds * 1000 });
  const free = (): number => config.concurrency - runs.busy() - reserved - line.count();
  const giveBack = async (ids: readonly number[]): Promise<void> => {
    if (ids.length > 0) await inbox.releaseLease(ids, { owner, now: config.now() });
  };
  const tellLeft = (ids: readonly number[]) => (error: unknown) =>
    config.log.error({ ids, error: faultText(error) }, "events left to their lease");

  /** Runs an event that is leased, or has it wait its turn: who stops gives it back. */
  const admit = (event: InboxEvent, body?: unknown): void => {
    if (runs.busy() < config.concurrency) runs.run(event, body);
    else if (stopped) giveBack([event.id]).catch(tellLeft([event.id]));
    else line.add({ event, body });
  };

  const poll = async (): Promise<void> => {
    while (!stopped && free() > 0) {
      again = false;
      const limit = free();
      const before = completions;
      reserved += limit;
      let events: InboxEvent[];
      try {
        events = await inbox.take({ ...lease(), now: config.now(), limit });
      } finally {
        reserved -= limit;
      }
      for (const event of events) admit(event);
      if (events.length > 0) continue;
      ahead = true;
      if (runs.count() === 0 && completions === before) waiting = false;
      if (!again) return;
    }
    again = true;
  };

  const look = (): void => {
    again = true;
    if (stopped || polling !== undefined || free() <= 0) return;
    polling = poll()
      .catch((error: unknown) => config.log.error({ error: faultText(error) }, "the inbox cannot be read"))
      .finally(() => {
        polling = undefined;
      });
  };

  const wake = (): void => {
    waiting = true;
    look();
  };

  const { leases, sweeps } = upkeepOf(config, async () => {
    const ids = [...runs.ids(), ...line.ids()];
    if (ids.length > 0) await inbox.renew(ids, lease());
  });

  const tick = (): void => {
    const ids = line.overdue(config.pollMs);
    if (ids.length > 0) ahead = false;
    giveBack(ids).then(look).catch(tellLeft(ids));
  };

  return {
    reserve() {
      const open = free() > 0 || (ahead && !again && line.hasRoom(runs.count() + reserved));
      if (stopped || !open) {
        again = true;
        return undefined;
      }
      reserved += 1;
      return lease();
    },
    release() {
      reserved -= 1;
    },
    run(event, body) {
      reserved -= 1;
      admit(event, body);
    },
    wake,
    start() {
      if (!stopped) return;
      stopped = false;
      polls = setInterval(tick, config.pollMs).unref();
      leases.start();
      sweeps.start();
      look();
    },
    async stop(withinMs) {
      stopped = true;
      clearInterval(polls);
      const waited = line.overdue(0);
      const givenBack = giveBack(waited).catch(tellLeft(waited));
      const ended = Promise.all([polling, sweeps.stop(), givenBack]).then(runs.allDone);
      await within(ended, withinMs);
      const left = runs.ids();
      if (left.length > 0)
        config.log.warn({ ids: left }, "stopped while handlers ran; their events are left to their lease");
      runs.giveUp();
      // Handlers that are waited for keep their leases meanwhile.
      const renewed = leases.stop();
      if (left.length === 0) await renewed;
      return left.length;
    },
    async idle() {
      while (!stopped) {
        const before = completions;
        look();
        await polling;
        if (runs.count() + reserved + line.count() === 0 && !again && completions === before) return;
        await Promise.race([runs.oneDone(), new Promise((resolve) => setTimeout(resolve, 5))]);
      }
    },
  };
}

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
