/** Leases jobs, runs them side by side, acknowledges them in batches, and leaves endpoints alone that keep failing. */
import { AdbindError } from "../errors.js";
import { Endpoints, type Turn } from "./endpoints.js";
import { safely } from "./periodic.js";
import { restMs } from "./rest.js";
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
/** Acknowledging transactions at a time: the second is made up while the first is flushed to disk. */
const ACK_LANES = 2;
/** How far a clock may go back unnoticed, in milliseconds: what time servers correct by slewing. */
const CLOCK_SLACK_MS = 2_000;
/** What a fault of the queue waits before the next try, in milliseconds. */
const FAULT_DELAY_MS = 500;
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
  #acks: Ack[] = [];
  #acking = new Set<Promise<void>>();
  #running = false;
  #woken = false;
  #idle = 0;
  /** Attempts under way; and when so few are left, a look for more: the last take brought some, so there may be. */
  #attempting = 0;
  #lookAgainAt = -1;
  /** The last take threw: what it would have found is unknown. */
  #failed = false;
  #loop: Promise<void> | undefined;
  #wake = (): void => undefined;
  #unsubscribe = (): void => undefined;
  /** Writes that nothing waits for while jobs run; a stop does. */
  readonly #aside = new Set<Promise<void>>();
  #renewal: NodeJS.Timeout | undefined;
  #clock = 0;

  constructor(options: WorkerSettings) {
    this.#options = options;
    this.#endpoints = new Endpoints(options);
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
    while (this.#held.size > 0 || this.#acking.size > 0) {
      await (this.#acking.size > 0 ? Promise.all(this.#acking) : new Promise((resolve) => setTimeout(resolve, 5)));
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
      // Having got something, look again: there may be more, and asking an empty queue is cheap.
      if (taken === 0 && !this.#woken) await this.#rest();
    }
  }

  async #takeOnce(): Promise<number> {
    const { queue, concurrency, now } = this.#options;
    const free = concurrency - this.#held.size;
    if (free <= 0) return 0;
    const at = now();
    const [since, sinceWall] = [performance.now(), Date.now()];
    const limit = Math.min(free, TAKE_LIMIT_JOBS);
    const jobs = await queue.take({ now: at, limit, room: this.#endpoints.plan(free, at) });
    for (const job of jobs) {
      // A jump of the clock can end the lease of a job that is still here: it has been renewed by being leased.
      const known = this.#held.get(job.id);
      if (known !== undefined) {
        Object.assign(known, { job, since, sinceWall });
        continue;
      }
      const held = { job, since, sinceWall };
      this.#held.set(job.id, held);
      this.#attempt(held).catch((error: unknown) => this.#fault(error));
    }
    this.#lookAgainAt = jobs.length > 0 ? Math.floor(this.#attempting / 2) : -1;
    return jobs.length;
  }

  #isLive({ since, sinceWall }: HeldJob): boolean {
    const life = this.#options.queue.leaseMs * (1 - LEASE_MARGIN);
    return performance.now() - since < life && Date.now() - sinceWall < life;
  }

  async #attempt(held: HeldJob): Promise<void> {
    const { job } = held;
    this.#endpoints.started(job.endpoint, this.#options.now());
    this.#attempting += 1;
    let handled: Handled;
    try {
      handled = await this.#options.handle(job, { live: () => this.#isLive(held) });
    } catch (error) {
      handled = this.#thrown(error);
    }
    this.#note(job.endpoint, handled);
    this.#attempting -= 1;
    if (this.#attempting <= this.#lookAgainAt) {
      this.#lookAgainAt = -1;
      this.#poke();
    }
    this.#acks.push({ job: held.job, outcome: handled.outcome });
    this.#ackSoon();
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
    this.#besides(this.#tell(endpoint, turn).catch((error: unknown) => this.#fault(error)));
  }

  /** What was learnt of an endpoint is written down: other instances, and this one after a restart, go by it. */
  async #tell(endpoint: string, turn: Exclude<Turn, { kind: "same" }>): Promise<void> {
    const { queue, giveUpMs = Number.POSITIVE_INFINITY, expireMs = Number.POSITIVE_INFINITY, now } = this.#options;
    if (turn.kind === "recovered") return queue.pause(endpoint, { pausedUntil: turn.until, failingSince: null });
    const before = await queue.health(endpoint);
    const since = [before.failingSince, turn.failingSince].filter((at) => at !== null);
    const failingSince = since.length === 0 ? null : Math.min(...since);
    await queue.pause(endpoint, { pausedUntil: Math.max(turn.until, before.pausedUntil), failingSince });
    if (failingSince === null) return;
    const failed = now() - failingSince;
    const why = "its endpoint has failed for too long";
    const until = async (state: "dead" | "expired", end: () => Promise<number>): Promise<void> => {
      for (let count = await end(); count > 0; count = await end()) this.#options.onGivenUp?.(endpoint, count, state);
    };
    if (failed >= giveUpMs) await until("dead", () => queue.deadLetter(endpoint, now() - giveUpMs, why));
    if (failed >= expireMs) await until("expired", () => queue.expire(endpoint, now() - expireMs, why));
  }

  #ackSoon(): void {
    if (this.#acking.size >= ACK_LANES) return;
    const acking = this.#ackAll().finally(() => {
      this.#acking.delete(acking);
      if (this.#acks.length > 0) this.#ackSoon();
    });
    this.#acking.add(acking);
  }

  async #ackAll(): Promise<void> {
    const { queue, effect, now } = this.#options;
    // The attempts that end in the same turn of the event loop share a transaction.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#acks.length > 0) {
      const batch = this.#acks;
      this.#acks = [];
      try {
        const flags = await queue.ack(batch, now(), effect);
        for (const [at, ack] of batch.entries()) this.#acked(ack, flags[at]!);
        this.#poke();
      } catch (error) {
        // A full disk, a database away: what happened stays known here and is written when it can be.
        this.#fault(error);
        this.#acks.unshift(...batch);
        await new Promise((resolve) => setTimeout(resolve, FAULT_DELAY_MS));
        if (!this.#running) this.#abandon();
      }
    }
  }

  /** Where the token had gone, but to ourselves (its lease ended, and we leased it again), it is told under the new one. */
  #acked({ job, outcome }: Ack, written: boolean): void {
    const held = this.#held.get(job.id);
    if (written || held === undefined || held.job.token === job.token) this.#held.delete(job.id);
    else this.#acks.push({ job: held.job, outcome });
  }

  /** Stopping while the database is away: the leases end by themselves, and the attempts are made again. */
  #abandon(): void {
    for (const { job } of this.#acks) this.#held.delete(job.id);
    this.#acks = [];
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
