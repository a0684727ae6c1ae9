/** Leases jobs, runs them side by side, acknowledges them in batches, and leaves endpoints alone that keep failing. */
import { AdbindError } from "../errors.js";
import { Acks } from "./acks.js";
import { Ahead, type BegunAttempt } from "./ahead.js";
import { Endpoints, type Turn } from "./endpoints.js";
import { safely } from "./periodic.js";
import { restMs } from "./rest.js";
import { tellTurn } from "./tell-turn.js";
import type { Ack } from "./types.js";
import {
  type Handled,
  type HeldJob,
  type Worker,
  type WorkerOptions,
  type WorkerSettings,
  workerSettingsOf,
} from "./worker-options.js";

export type { Handled, JobLease, Worker, WorkerOptions } from "./worker-options.js";

/** Jobs leased in one go; more would hold up the event loop. */
const TAKE_LIMIT_JOBS = 256;
/** Jobs leased before there is a slot for them, as a part of the slots. */
const AHEAD_PART = 4;
/** Between two looks while attempts end all the time, in milliseconds; sooner where little is left. */
const BUSY_PAUSE_MS = 20;
/** How far a clock may go back unnoticed, in milliseconds: what time servers correct by slewing. */
const CLOCK_SLACK_MS = 2_000;
/** After a handler threw: nothing is known of why, so not at once. */
const THROWN_DELAY_MS = 10_000;
/** Part of a lease that is left unused: a request that is begun at its end would run beyond it. */
const LEASE_MARGIN = 0.1;

/**
 * Makes a worker.
 * @throws AdbindError `queue_option_invalid` for a number that is not a positive integer
 */
export const createWorker = (given: WorkerOptions): Worker => new LeasingWorker(workerSettingsOf(given));

class LeasingWorker implements Worker {
  readonly #options: WorkerSettings;
  readonly #endpoints: Endpoints;
  readonly #held = new Map<number, HeldJob>();
  readonly #acks: Acks;
  readonly #ahead: Ahead;
  #running = false;
  #woken = false;
  #idle = 0;
  /** When so few are left that have not been attempted, a look for more: the last take brought some, so there may be. */
  #lookAgainAt = -1;
  /** The last take threw: what it would have found is unknown. */
  #failed = false;
  #loop: Promise<void> | undefined;
  #wake = (): void => undefined;
  /** Ends the pause between two looks while much is under way. */
  #hurry = (): void => undefined;
  #unsubscribe = (): void => undefined;
  /** Writes that nothing waits for while jobs run; a stop does. */
  readonly #aside = new Set<Promise<void>>();
  #renewal: NodeJS.Timeout | undefined;
  #clock = 0;

  constructor(options: WorkerSettings) {
    this.#options = options;
    this.#endpoints = new Endpoints(options);
    this.#ahead = new Ahead({
      concurrency: options.concurrency,
      widthOf: (endpoint) => this.#endpoints.widthOf(endpoint),
      begin: (held, begun) => this.#attempt(held, begun).catch((error: unknown) => this.#fault(error)),
    });
    this.#acks = new Acks({
      ...{ queue: options.queue, effect: options.effect, now: options.now },
      moreToCome: () => this.#ahead.underWay > 0,
      acked: (ack, written) => this.#acked(ack, written),
      written: () => this.#poke(),
      onFault: (error) => this.#fault(error),
    });
  }

  get out(): number {
    return this.#held.size;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#clock = this.#options.now();
    this.#unsubscribe = this.#options.queue.onWake(() => this.#poke());
    this.#renewal = setInterval(() => this.#besides(this.#renew()), this.#options.renewMs);
    this.#loop = this.#pull(this.#clock + this.#options.longestDelayMs, this.#clock).then(() => this.#run());
  }

  async stop(): Promise<void> {
    this.#running = false;
    this.#poke();
    await this.#loop;
    this.#acks.giveUp(({ job }) => this.#held.delete(job.id));
    this.#release(this.#ahead.drop());
    while (this.#held.size > 0 || this.#acks.under) {
      await (this.#acks.under ? this.#acks.allWritten() : new Promise((resolve) => setTimeout(resolve, 5)));
    }
    clearInterval(this.#renewal);
    this.#unsubscribe();
    await Promise.all(this.#aside);
  }

  #fault(error: unknown): void {
    safely(() => this.#options.onFault?.(error));
  }

  /** @param work tells of its own faults */
  #besides(work: Promise<void>): void {
    this.#aside.add(work);
    work.finally(() => this.#aside.delete(work)).catch((error: unknown) => this.#fault(error));
  }

  #poke(): void {
    this.#woken = true;
    this.#idle = 0;
    this.#wake();
  }

  async #run(): Promise<void> {
    while (this.#running) {
      this.#woken = false;
      let taken = 0;
      try {
        await this.#watchClock();
        taken = await this.#takeOnce();
        this.#failed = false;
      } catch (error) {
        this.#failed = true;
        this.#fault(error);
      }
      // Having got something, look again: there may be more, and asking an empty queue is cheap. While it is busy, not
      // for every one that ends: a look for many costs little more than one for a few.
      if (this.#ahead.busy) await this.#pause();
      else if (taken === 0 && !this.#woken) await this.#rest();
    }
  }

  async #takeOnce(): Promise<number> {
    const { queue, concurrency, now } = this.#options;
    const free = concurrency - (this.#held.size - this.#ahead.waiting);
    const ahead = Math.floor(concurrency / AHEAD_PART) - this.#ahead.waiting;
    if (free <= 0) return 0;
    const at = now();
    const [since, sinceWall] = [performance.now(), Date.now()];
    const limit = Math.min(free + Math.max(0, ahead), TAKE_LIMIT_JOBS);
    const jobs = await queue.take({ now: at, limit, room: this.#endpoints.plan(free, at, ahead) });
    for (const job of jobs) {
      // A jump of the clock can end the lease of a job that is still here: it has been renewed by being leased.
      const known = this.#held.get(job.id);
      if (known !== undefined) {
        Object.assign(known, { job, since, sinceWall });
        continue;
      }
      const held = { job, since, sinceWall };
      this.#held.set(job.id, held);
      this.#endpoints.started(job.endpoint, at);
      this.#ahead.add(held);
    }
    if (jobs.length > 0) safely(() => this.#options.onLeased?.(jobs));
    this.#ahead.begin();
    this.#lookAgainAt = jobs.length > 0 ? Math.floor(this.#unattempted / 2) : -1;
    return jobs.length;
  }

  #isLive({ since, sinceWall }: HeldJob): boolean {
    const life = this.#options.queue.leaseMs * (1 - LEASE_MARGIN);
    return performance.now() - since < life && Date.now() - sinceWall < life;
  }

  /** Jobs leased whose attempts have not ended. */
  get #unattempted(): number {
    return this.#ahead.waiting + this.#ahead.underWay;
  }

  async #attempt(held: HeldJob, begun: BegunAttempt): Promise<void> {
    const { job } = held;
    // It may have waited since it was leased.
    (job as { startedAt: number }).startedAt = this.#options.now();
    let handled: Handled;
    try {
      handled = await this.#options.handle(job, { live: () => this.#isLive(held) });
    } catch (error) {
      handled = this.#thrown(error);
    }
    this.#note(job.endpoint, handled);
    this.#acks.push({ job: held.job, outcome: handled.outcome });
    this.#ahead.ended(begun);
    if (this.#unattempted <= this.#lookAgainAt) {
      this.#lookAgainAt = -1;
      this.#poke();
      this.#hurry();
    }
  }

  /** Gives back what has not begun. */
  #release(waiting: readonly HeldJob[]): void {
    for (const { job } of waiting) {
      this.#endpoints.returned(job.endpoint);
      this.#acks.push({ job, outcome: { kind: "released", due: this.#options.now() } });
    }
  }

  #thrown(error: unknown): Handled {
    if (error instanceof AdbindError && error.code === "job_unreadable") {
      return { outcome: { kind: "refused", error: error.message }, healthy: null };
    }
    this.#fault(error);
    const due = this.#options.now() + THROWN_DELAY_MS;
    return { outcome: { kind: "later", due, error: "the attempt could not be made" }, healthy: null };
  }

  #note(endpoint: string, { healthy, holdUntil, perSecond }: Handled): void {
    const at = this.#options.now();
    if (perSecond !== undefined) this.#endpoints.limit(endpoint, perSecond);
    const turns: Turn[] = [];
    if (holdUntil !== undefined) turns.push(this.#endpoints.hold(endpoint, holdUntil, at));
    if (healthy === null) this.#endpoints.returned(endpoint);
    else turns.push(healthy ? this.#endpoints.succeeded(endpoint, at) : this.#endpoints.failed(endpoint, at));
    // The last one knows what those before it came to.
    const turn = turns.findLast(({ kind }) => kind !== "same");
    if (turn === undefined || turn.kind === "same") return;
    if (turn.kind === "paused") this.#release(this.#ahead.drop(endpoint));
    this.#besides(tellTurn(this.#options, endpoint, turn).catch((error: unknown) => this.#fault(error)));
  }

  /** Where the token had gone, but to ourselves (its lease ended, and we leased it again), it is told under the new one. */
  #acked({ job, outcome }: Ack, written: boolean): void {
    const held = this.#held.get(job.id);
    if (written || held === undefined || held.job.token === job.token) this.#held.delete(job.id);
    else this.#acks.push({ job: held.job, outcome });
  }

  async #renew(): Promise<void> {
    const { queue, now, renewMs } = this.#options;
    const [since, sinceWall] = [performance.now(), Date.now()];
    const old = [...this.#held.values()].filter((held) => since - held.since >= renewMs / 2);
    if (old.length === 0) return;
    try {
      const jobs = old.map(({ job }) => job);
      const ours = await queue.renew(jobs, now());
      for (const held of old) if (ours.has(held.job.id)) Object.assign(held, { since, sinceWall });
    } catch (error) {
      this.#fault(error);
    }
  }

  /** A clock that was set back would leave jobs waiting for a time that is far off now. */
  async #watchClock(): Promise<void> {
    const at = this.#options.now();
    const before = this.#clock;
    this.#clock = at;
    if (at < before - CLOCK_SLACK_MS) await this.#pull(at + this.#options.longestDelayMs, at);
  }

  async #pull(horizon: number, at: number): Promise<void> {
    this.#endpoints.pull(at);
    try {
      await this.#options.queue.pull(horizon, at);
    } catch (error) {
      this.#fault(error);
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, BUSY_PAUSE_MS);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #rest(): Promise<void> {
    const { pollMs, queue, now } = this.#options;
    const knows = this.#held.size === 0 && !this.#failed;
    const pause = restMs({ pollMs, idle: this.#idle, quietMs: knows ? queue.quietMs(now()) : undefined });
    if (this.#held.size === 0) this.#idle += 1;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pause);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
