/** Runs handlers for what the inbox holds: the events just accepted at once, all others as they fall due. */
import { randomUUID } from "node:crypto";
import { expirySteps } from "../queue/expiry.js";
import { createPeriodic, type Periodic, type Telling, tellLog } from "../queue/periodic.js";
import type { Expiring, InboxEvent, Lease } from "../store/types.js";
import { runHandler } from "./dispatch.js";
import type { ReceiverConfig } from "./settings.js";

/** Longest delay between attempts, in milliseconds: an hour. */
const MAX_BACKOFF_MS = 3_600_000;
/** Spread of delays, either way: events that failed together should not come back together. */
const JITTER = 0.25;
/** Characters kept of a failure's text. */
const MAX_ERROR_CHARS = 500;
/** How often expired state is removed, in milliseconds. */
const SWEEP_MS = 1_000;

export interface Worker {
  /** A lease for an event about to be accepted, or undefined when every slot is taken. Give it to `run` or `release`. */
  reserve(): Lease | undefined;
  release(): void;
  /** Handles an event that is leased by `reserve`'s lease; `body` is its body, parsed already. */
  run(event: InboxEvent, body: unknown): void;
  /** There may be due events in the store: look before the next poll, and again when a handler is done. */
  wake(): void;
  start(): void;
  /** Stops taking events, and waits for the handlers that run. */
  stop(): Promise<void>;
  /** Resolves when nothing is running and nothing is due. */
  idle(): Promise<void>;
}

const textOf = (error: unknown): string => {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.replaceAll("\0", "").toWellFormed().slice(0, MAX_ERROR_CHARS);
};

export function createWorker<Tx>(config: ReceiverConfig<Tx>): Worker {
  const { inbox } = config.store;
  const owner = randomUUID();
  const running = new Map<number, Promise<void>>();
  let polls: NodeJS.Timeout | undefined;
  let reserved = 0;
  let stopped = true;
  let polling: Promise<void> | undefined;
  let again = false;
  // Events that waited behind another of their task fall due when that one is done.
  let waiting = false;
  let completions = 0;

  const lease = (): Lease => ({ owner, until: config.now() + config.leaseSeconds * 1000 });
  const free = (): number => config.concurrency - running.size - reserved;

  const handle = async (event: InboxEvent, body?: unknown): Promise<void> => {
    const held = () => ({ id: event.id, owner, now: config.now() });
    try {
      const effect = await runHandler(config, event, body);
      const result = await inbox.complete(held(), effect);
      config.metrics.handled(result);
    } catch (error) {
      await fail(event, held(), error);
    }
  };

  const fail = async (event: InboxEvent, held: { id: number; owner: string; now: number }, error: unknown) => {
    const attempts = event.attempts + 1;
    const dead = attempts >= config.maxAttempts;
    // The error's text stays in the store: it may quote what the handler worked with, and logs must not.
    const about = {
      id: event.id,
      kind: event.kind,
      attempts,
      error: error instanceof Error ? error.name : typeof error,
    };
    config.log.warn(about, dead ? "event given up" : "handler failed");
    config.metrics.handled(dead ? "dead" : "retried");
    if (dead) await inbox.bury(held, textOf(error));
    else await inbox.retry(held, held.now + backoff(config, event.attempts), textOf(error));
  };

  const run = (event: InboxEvent, body?: unknown): void => {
    const done = handle(event, body)
      // The store is out of reach: the lease runs out, and the event is taken again.
      .catch((error: unknown) => config.log.error({ id: event.id, error: textOf(error) }, "event left to its lease"))
      .finally(() => {
        running.delete(event.id);
        completions += 1;
        if (again || waiting) look();
      });
    running.set(event.id, done);
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
      for (const event of events) if (!running.has(event.id)) run(event);
      if (events.length > 0) continue;
      if (running.size === 0 && completions === before) waiting = false;
      if (!again) return;
    }
    again = true;
  };

  const look = (): void => {
    again = true;
    if (stopped || polling !== undefined || free() <= 0) return;
    polling = poll()
      .catch((error: unknown) => config.log.error({ error: textOf(error) }, "the inbox cannot be read"))
      .finally(() => {
        polling = undefined;
      });
  };

  const wake = (): void => {
    waiting = true;
    look();
  };

  const upkeep = upkeepOf(config, async () => {
    if (running.size > 0) await inbox.renew([...running.keys()], lease());
  });

  return {
    reserve() {
      if (stopped || free() <= 0) {
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
      run(event, body);
    },
    wake,
    start() {
      if (!stopped) return;
      stopped = false;
      polls = setInterval(look, config.pollMs).unref();
      for (const one of upkeep) one.start();
      look();
    },
    async stop() {
      stopped = true;
      clearInterval(polls);
      await Promise.all(upkeep.map((one) => one.stop()));
      await polling;
      await Promise.all(running.values());
    },
    async idle() {
      while (!stopped) {
        const before = completions;
        look();
        await polling;
        if (running.size === 0 && reserved === 0 && !again && completions === before) return;
        await Promise.race([...running.values(), new Promise((resolve) => setTimeout(resolve, 5))]);
      }
    },
  };
}

/** Delay before the next attempt, in milliseconds. */
const backoff = <Tx>({ backoffMs, random }: ReceiverConfig<Tx>, attempts: number): number => {
  const delay = Math.min(backoffMs * 2 ** Math.min(attempts, 30), MAX_BACKOFF_MS);
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random()));
};

/** What is done beside taking events: leases prolonged, and what has expired removed bit by bit. */
const upkeepOf = <Tx>(config: ReceiverConfig<Tx>, renew: () => Promise<void>): readonly Periodic[] => {
  const telling: Telling = {
    failed: ({ error, ...fault }, message) => config.log.error({ ...fault, error: textOf(error) }, message),
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
  return [
    createPeriodic({
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
    createPeriodic({
      pauseMs: SWEEP_MS,
      steps: expirySteps(config.store.expiring.map(warned), config.now),
      telling,
    }),
  ];
};
