/** Leases jobs from a queue, attempts them, acknowledges them in batches, and leaves endpoints alone that keep failing. */
import { AdbindError } from "../errors.js";
import { safely } from "../listener.js";
import { Acks } from "./acks.js";
import type { HeldJob } from "./ahead.js";
import { Aside } from "./aside.js";
import { Endpoints, type Turn } from "./endpoints.js";
import { JobLoop } from "./job-loop.js";
import type { AttemptTurn, JobSource, Sharing } from "./job-loop-options.js";
import { waitWithin } from "./pauses.js";
import { restMs } from "./rest.js";
import { TurnNotes } from "./tell-turn.js";
import type { Job } from "./types.js";
import {
  type Handled,
  type Withdrawn,
  type Worker,
  type WorkerOptions,
  type WorkerSettings,
  workerSettingsOf,
} from "./worker-options.js";

export type { Handled, JobLease, Worker, WorkerOptions } from "./worker-options.js";

/** Jobs leased before there is a slot for them, as a part of the slots. */
const AHEAD_PART = 4;
/** How far a clock may go back unnoticed, in milliseconds: what time servers correct by slewing. */
const CLOCK_SLACK_MS = 2_000;
/**
 * A clock that goes back further, in milliseconds, was wrong, and what was written by it may wait for so long: after it nothing
 * waits for longer than a pause.
 */
const WRONG_CLOCK_MS = 300_000;
/** In so many times that leases are renewed it is looked once which endpoints are noted as unwell; and the most of them. */
const UNWELL_RENEWALS = 8;
const UNWELL_LIMIT = 10_000;
/** After a handler threw: nothing is known of why, so not at once. */
const THROWN_DELAY_MS = 10_000;

/**
 * Makes a worker.
 * @throws AdbindError `queue_option_invalid` for a number that is not a positive integer
 */
export const createWorker = (given: WorkerOptions): Worker => new QueueWorker(workerSettingsOf(given));

class QueueWorker implements Worker {
  readonly #options: WorkerSettings;
  readonly #endpoints: Endpoints;
  readonly #acks: Acks;
  readonly #loop: JobLoop<Job>;
  /** What is learnt of endpoints. */
  readonly #aside = new Aside();
  readonly #notes: TurnNotes;
  /** Slots of attempts that have ended just now. */
  readonly #freeing: (() => void)[] = [];
  #clock = 0;
  /** When it was last looked which endpoints are noted as unwell, by the process's own clock. */
  #unwellAt = Number.NEGATIVE_INFINITY;

  constructor(options: WorkerSettings) {
    this.#options = options;
    const { concurrency, renewMs, gatherMs, now, onLeased } = options;
    this.#endpoints = new Endpoints({ ...options, leasedPerSlot: options.queue.leasedPerSlot });
    this.#notes = new TurnNotes(options);
    this.#loop = new JobLoop({
      source: this.#source(),
      sharing: sharingOf(this.#endpoints),
      turns: { concurrency, weightOf: ({ body }) => body.length },
      ahead: Math.floor(concurrency / AHEAD_PART),
      claimsEarly: options.queue.remote,
      // A job keeps its slot until it is acknowledged.
      finishing: 0,
      atHand: { jobs: 0, weight: 0 },
      waitMs: Number.POSITIVE_INFINITY,
      ...{ renewMs, now, onLeased },
      attempt: (held, turn) => this.#attempt(held, turn),
      onFault: ({ error }) => this.#fault(error),
      starting: async () => {
        this.#clock = now();
        await this.#pull(this.#clock + options.longestDelayMs, this.#clock);
        await this.#lookAtUnwell().catch((error: unknown) => this.#fault(error));
      },
      looking: () => {
        if (performance.now() - this.#unwellAt >= UNWELL_RENEWALS * renewMs)
          this.#aside.add(this.#lookAtUnwell(), (error) => this.#fault(error));
        return this.#watchClock();
      },
      stopping: () => this.#acks.giveUp(),
    });
    this.#acks = new Acks({
      ...{ queue: options.queue, effect: options.effect, gatherMs, now },
      moreToCome: () => this.#loop.ending > this.#freeing.length,
      // When those who wait for it have heard of it: by then their slots are free.
      written: () => setImmediate(() => this.#loop.look()),
      onFault: (error) => this.#fault(error),
    });
  }

  get out(): number {
    return this.#loop.out;
  }

  start(): void {
    this.#loop.start();
  }

  withdraw(what: Withdrawn): void {
    this.#loop.withdraw(
      "job" in what ? ({ job }) => job.id === what.job : ({ endpoint }) => endpoint === what.endpoint,
    );
  }

  async resume(endpoint: string): Promise<boolean> {
    const noted = await this.#notes.resume(endpoint);
    // What could not be noted, or what another instance has ended, is known here still.
    const known = this.#endpoints.resumed(endpoint, this.#options.now());
    if (noted || known) this.#loop.look();
    return noted || known;
  }

  async stop(withinMs?: number): Promise<number> {
    const began = performance.now();
    const left = await this.#loop.stop(withinMs);
    this.#acks.close();
    const written = this.#acks.allWritten().then(() => this.#aside.ended());
    await waitWithin(written, withinMs && Math.max(0, withinMs - (performance.now() - began)));
    return left.length;
  }

  #source(): JobSource<Job> {
    const { queue, now, pollMs, ownerOf } = this.#options;
    return {
      leaseMs: queue.leaseMs,
      claim: (request) => queue.take({ ...request, ownerOf }),
      goesOn: () => queue.goesOn?.() === true,
      renew: async (jobs, begun) => {
        const ours = await queue.renew(jobs, now(), begun);
        // Paused by an operator elsewhere.
        const stopped = await queue.stopped([...new Set(jobs.map(({ endpoint }) => endpoint))]);
        for (const endpoint of stopped) this.withdraw({ endpoint });
        return ours;
      },
      release: async (jobs) => {
        const outcome = { kind: "released", due: now() } as const;
        await Promise.all(jobs.map((job) => this.#acks.push({ job, outcome })));
      },
      restMs: (idle, known) => restMs({ pollMs, idle, quietMs: known ? queue.quietMs(now()) : undefined }),
      onWake: (listener) => queue.onWake(listener),
      keepsAlive: true,
    };
  }

  #fault(error: unknown): void {
    safely(() => this.#options.onFault?.(error));
  }

  async #attempt(held: HeldJob<Job>, { live, free }: AttemptTurn): Promise<"gone" | "kept"> {
    const { job } = held;
    // It may have waited since it was leased.
    (job as { startedAt: number }).startedAt = this.#options.now();
    let handled: Handled;
    try {
      handled = await this.#options.handle(job, { live });
    } catch (error) {
      handled = this.#thrown(job, error);
    }
    const end = await this.#written(held, handled, free);
    // Its slot is another's when that is written: what cannot be, since somebody holds its row, takes no more than its share.
    this.#note(held.endpoint, handled, job.startedAt);
    return end;
  }

  async #written(held: HeldJob<Job>, { outcome, note }: Handled, free: () => void): Promise<"gone" | "kept"> {
    for (let told = held.job; ; told = held.job) {
      this.#soon(free);
      const writing = this.#acks.push({ job: told, outcome, note });
      // Where the token had gone, but to ourselves (its lease ended, and we leased it again), it is told under the new one.
      const written = await writing;
      // Its lease may be on its way to us.
      if (!written) await this.#loop.lookEnded();
      if (held.job.token === told.token) return "gone";
      if (written) return "kept";
    }
  }

  /**
   * Has the next attempts begin when a client of HTTP has its connections back, which is a turn of the event loop after their
   * answers: who begins sooner opens others. Those that end in one turn are followed together.
   */
  #soon(free: () => void): void {
    this.#freeing.push(free);
    if (this.#freeing.length > 1) return;
    setImmediate(() =>
      setImmediate(() => {
        for (const each of this.#freeing.splice(0)) each();
      }),
    );
  }

  #thrown({ endpoint, firstAt }: Job, error: unknown): Handled {
    if (error instanceof AdbindError && error.code === "job_unreadable") {
      return { outcome: { kind: "refused", error: error.message }, healthy: null };
    }
    this.#fault(error);
    const { now, giveUpMs = Number.POSITIVE_INFINITY, onGivenUp } = this.#options;
    const at = now();
    const why = "the attempt could not be made";
    if (at - firstAt < giveUpMs)
      return { outcome: { kind: "later", due: at + THROWN_DELAY_MS, error: why }, healthy: null };
    safely(() => onGivenUp?.(endpoint, 1, "dead"));
    return { outcome: { kind: "dead", error: why }, healthy: null };
  }

  #note(endpoint: string, { healthy, holdUntil, perSecond }: Handled, began: number): void {
    const at = this.#options.now();
    if (perSecond !== undefined) this.#endpoints.limit(endpoint, perSecond);
    if (healthy === false && this.#endpoints.resumedSince(endpoint, began)) {
      this.#endpoints.returned(endpoint);
      return;
    }
    const turns: Turn[] = [];
    if (holdUntil !== undefined) turns.push(this.#endpoints.hold(endpoint, holdUntil, at));
    if (healthy === null) this.#endpoints.returned(endpoint);
    else turns.push(healthy ? this.#endpoints.succeeded(endpoint, at) : this.#endpoints.failed(endpoint, at));
    const told = turns.filter((turn) => turn.kind !== "same");
    if (told.length === 0) return;
    if (told.some(({ kind }) => kind === "paused")) this.#loop.giveBack(endpoint);
    this.#aside.add(this.#notes.tell(endpoint, told, { began, ended: at }), (error) => this.#fault(error));
  }

  /** What was noted before a restart, or by an instance that is gone, nobody else takes back. */
  async #lookAtUnwell(): Promise<void> {
    const { queue, now } = this.#options;
    this.#unwellAt = performance.now();
    this.#endpoints.note(await queue.unwell(now(), UNWELL_LIMIT));
  }

  /** A clock that was set back would leave jobs waiting for a time that is far off now. */
  async #watchClock(): Promise<void> {
    const at = this.#options.now();
    const before = this.#clock;
    this.#clock = at;
    const { longestDelayMs, maxPauseMs } = this.#options;
    if (at < before - CLOCK_SLACK_MS)
      await this.#pull(at + (before - at > WRONG_CLOCK_MS ? maxPauseMs : longestDelayMs), at);
  }

  async #pull(horizon: number, at: number): Promise<void> {
    this.#endpoints.pull(at);
    try {
      await this.#options.queue.pull(horizon, at);
    } catch (error) {
      this.#fault(error);
    }
  }
}

const sharingOf = (endpoints: Endpoints): Sharing<Job> => ({
  endpointOf: ({ endpoint }) => endpoint,
  plan: (free, now, ahead) => endpoints.plan(free, now, ahead),
  widthOf: (endpoint) => endpoints.widthOf(endpoint),
  started: (endpoint, now) => endpoints.started(endpoint, now),
  returned: (endpoint) => endpoints.returned(endpoint),
});
