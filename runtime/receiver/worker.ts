/**
 * Runs handlers for what the inbox holds, by the loop of all jobs: the events just accepted at once, all others as they fall due.
 */
import { randomUUID } from "node:crypto";
import { JobLoop } from "../queue/job-loop.js";
import type { JobLoopFault, JobSource, Sharing } from "../queue/job-loop-options.js";
import { createPeriodic, type Periodic, stepRunner, type Telling, tellLog } from "../queue/periodic.js";
import type { Expiring, InboxEvent, Lease } from "../store/types.js";
import type { EventContent } from "./envelope.js";
import { faultText, handlerRuns, type InboxJob } from "./runs.js";
import type { ReceiverConfig } from "./settings.js";
import { sweepSteps } from "./sweep.js";

/** How often expired state is removed, in milliseconds. */
const SWEEP_MS = 1_000;
/**
 * Events that wait, run, or are being stored as handled, beyond the handlers that may run: under load most wait a moment only,
 * and what is at hand need not be read from the store again.
 */
const AHEAD_EVENTS = 256;
/** Most bytes of bodies that wait; one more event is taken from the store when its turn comes. */
const AHEAD_BYTES = 8 * 1024 * 1024;
/** Renewals in the time of a lease. */
const RENEWALS = 3;

export interface InboxWorker {
  /** A lease for an event about to be accepted, or undefined when it is to wait in the store. Give it to `run` or `release`. */
  reserve(): Lease | undefined;
  release(): void;
  /** Handles an event that is leased by `reserve`'s lease, once a handler is free; `content` is its body, read already. */
  run(event: InboxEvent, content: EventContent): void;
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

/** Makes what runs the handlers of an inbox. */
export function inboxWorker<Tx>(config: ReceiverConfig<Tx>): InboxWorker {
  const { concurrency, pollMs, leaseSeconds, now, log } = config;
  const owner = randomUUID();
  const lease = (): Lease => ({ owner, until: now() + leaseSeconds * 1000 });
  const runs = handlerRuns(config, owner);
  const sweeps = sweepsOf(config);
  const loop = new JobLoop<InboxJob>({
    source: inboxSource(config, lease),
    sharing: oneLine(concurrency),
    turns: { concurrency, atOnce: Number.POSITIVE_INFINITY, weightOf: ({ event }) => event.body.length },
    // What there is no handler for stays where another instance may take it.
    ahead: 0,
    finishing: AHEAD_EVENTS,
    atHand: { jobs: AHEAD_EVENTS, weight: AHEAD_BYTES },
    waitMs: pollMs,
    renewMs: (leaseSeconds * 1000) / RENEWALS,
    now,
    attempt: ({ job }, { free }) => runs.run(job, free),
    onFault: (fault) => tellFault(config, fault),
    stopping: () => sweeps.stop(),
  });
  return {
    reserve: () => (loop.reserve() ? lease() : undefined),
    release: () => loop.cancel(),
    run: (event, content) => loop.admit({ id: event.id, event, content }),
    wake: () => loop.look(true),
    start() {
      loop.start();
      sweeps.start();
    },
    async stop(withinMs) {
      const left = (await loop.stop(withinMs)).map(({ id }) => id);
      if (left.length > 0) log.warn({ ids: left }, "stopped while handlers ran; their events are left to their lease");
      runs.giveUp();
      return left.length;
    },
    idle: () => loop.idle(),
  };
}

/** The inbox as a source of jobs: who handles an event stores what became of it, with its effect in one transaction. */
function inboxSource<Tx>(
  { store, now, pollMs, leaseSeconds, log }: ReceiverConfig<Tx>,
  lease: () => Lease,
): JobSource<InboxJob> {
  const { inbox } = store;
  const renewing = stepRunner(tellingOf(log));
  return {
    leaseMs: leaseSeconds * 1000,
    async claim({ limit }) {
      const events = await inbox.take({ ...lease(), now: now(), limit });
      return events.map((event) => ({ id: event.id, event, content: undefined }));
    },
    async renew(jobs) {
      const ids = jobs.map(({ id }) => id);
      const renewed = new Set<number>();
      const run = async (): Promise<void> => {
        await inbox.renew(ids, lease());
        for (const id of ids) renewed.add(id);
      };
      const meanwhile = "another instance takes those that last longer than a lease, and handles them too";
      await renewing([{ name: "renew the leases of events that are handled", meanwhile, run }]);
      return renewed;
    },
    release: (jobs) =>
      inbox.releaseLease(
        jobs.map(({ id }) => id),
        { owner: lease().owner, now: now() },
      ),
    restMs: () => pollMs,
    // A store tells nobody of what another instance has accepted.
    onWake: () => () => undefined,
    keepsAlive: false,
  };
}

/** Events have one line: those of one task come one at a time from the store already. */
const oneLine = (concurrency: number): Sharing<InboxJob> => ({
  endpointOf: () => "",
  plan: (free) => () => free,
  widthOf: () => concurrency,
  started: () => undefined,
  returned: () => undefined,
});

function tellFault<Tx>({ log }: ReceiverConfig<Tx>, { doing, error, jobs }: JobLoopFault<InboxJob>): void {
  const about = { error: faultText(error), ...(jobs.length > 0 && { ids: jobs.map(({ id }) => id) }) };
  log.error(about, doing === "look" ? "the inbox cannot be read" : "events left to their lease");
}

const tellingOf = (log: ReceiverConfig<unknown>["log"]): Telling => ({
  failed: ({ error, ...fault }, message) => log.error({ ...fault, error: faultText(error) }, message),
  recovered: tellLog(log).recovered,
});

/** What has expired is removed bit by bit, beside all the rest. */
function sweepsOf<Tx>({ store, now, log }: ReceiverConfig<Tx>): Periodic {
  const warned = (one: Expiring): Expiring => ({
    ...one,
    async remove(at, limit) {
      const events = await one.remove(at, limit);
      if (one.lost && events > 0) log.warn({ events }, `given up: ${one.what}`);
      return events;
    },
  });
  return createPeriodic({
    pauseMs: SWEEP_MS,
    steps: sweepSteps(store.expiring.map(warned), now),
    telling: tellingOf(log),
  });
}
