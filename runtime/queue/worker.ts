/** Takes jobs, runs them side by side, settles them in batches, and leaves groups alone that keep failing. */
import { AdbindError } from "../errors.js";
import { type GroupOptions, Groups, type Turn } from "./groups.js";
import { safely } from "./periodic.js";
import type { Job, Queue, SettleEffect, Settlement, Verdict } from "./types.js";

/** What an attempt came to. */
export interface Outcome {
  readonly verdict: Verdict;
  /** Whether the group is well, judged by this attempt; null where it says nothing of it. */
  readonly healthy: boolean | null;
}

export interface WorkerOptions<Tx> extends Partial<GroupOptions> {
  readonly queue: Queue<Tx>;
  /** Runs one attempt. What it throws is a fault of ours: the job is tried again later. */
  handle(job: Job): Promise<Outcome>;
  /** Jobs out at once. Default 1,024. */
  readonly concurrency?: number;
  /** How often the queue is asked without being woken, in milliseconds. Default 250. */
  readonly pollMs?: number;
  /** How often jobs that are out are prolonged, in milliseconds. Default 5,000. */
  readonly renewMs?: number;
  /** No delay we give is longer, in milliseconds: what lies further ahead was written by a clock gone wrong. */
  readonly longestDelayMs: number;
  /** Jobs of a group that fails are given up after this many milliseconds. Default: never. */
  readonly giveUpMs?: number;
  /** Runs in the transaction that settles. */
  readonly effect?: SettleEffect<Tx>;
  /** Told what is given up because its group is. */
  readonly onBuried?: (group: string, count: number) => void;
  /** Told of faults of the queue itself; they are tried again. */
  readonly onFault?: (error: unknown) => void;
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
}

export interface Worker {
  start(): void;
  /** Takes nothing more, waits for what is out. */
  stop(): Promise<void>;
  /** Jobs out of the queue here. */
  readonly out: number;
}

const defaults = {
  concurrency: 1_024,
  pollMs: 250,
  renewMs: 5_000,
  perGroup: 64,
  failuresToPause: 5,
  pauseMs: 5_000,
  maxPauseMs: 60_000,
};

/** Jobs taken in one go; more would hold up the event loop. */
const TAKE_LIMIT_JOBS = 256;
/** How far a clock may go back unnoticed, in milliseconds: what time servers correct by slewing. */
const CLOCK_SLACK_MS = 2_000;
/** What a fault of the queue waits before the next try, in milliseconds. */
const FAULT_DELAY_MS = 500;
/** After a handler threw: nothing is known of why, so not at once. */
const THROWN_DELAY_MS = 10_000;

/**
 * Makes a worker.
 * @throws AdbindError `queue_option_invalid` for a number that is not a positive integer
 */
export function createWorker<Tx>(given: WorkerOptions<Tx>): Worker {
  const options = { ...defaults, now: Date.now, ...definedOf(given) };
  for (const name of Object.keys(defaults) as (keyof typeof defaults)[]) {
    const value = options[name];
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new AdbindError("queue_option_invalid", "an option of a worker cannot be used", {
      where: name,
      remedy: "give a positive integer",
    });
  }
  return new TakingWorker(options);
}

const definedOf = <T extends object>(given: T): T =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;

type Settings<Tx> = WorkerOptions<Tx> & typeof defaults & { readonly now: () => number };

class TakingWorker<Tx> implements Worker {
  readonly #options: Settings<Tx>;
  readonly #groups: Groups;
  readonly #out = new Map<number, Job>();
  readonly #renewed = new Map<number, number>();
  #settlements: Settlement[] = [];
  #running = false;
  #woken = false;
  #settling: Promise<void> | undefined;
  #loop: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  #unsubscribe: () => void = () => undefined;
  /** Writes that nothing waits for while jobs run; a stop does. */
  readonly #aside = new Set<Promise<void>>();
  #renewal: NodeJS.Timeout | undefined;
  #clock = 0;

  constructor(options: Settings<Tx>) {
    this.#options = options;
    this.#groups = new Groups(options);
  }

  get out(): number {
    return this.#out.size;
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
    while (this.#out.size > 0 || this.#settling !== undefined) {
      await (this.#settling ?? new Promise((resolve) => setTimeout(resolve, 5)));
    }
    clearInterval(this.#renewal);
    this.#unsubscribe();
    await Promise.all(this.#aside);
  }

  /** Goes on beside the rest; a stop waits for it. */
  #besides(work: Promise<void>): void {
    const done = work.catch((error: unknown) => this.#fault(error)).finally(() => this.#aside.delete(done));
    this.#aside.add(done);
  }

  /** A listener that throws must end neither the loop nor the process. */
  #fault(error: unknown): void {
    safely(() => this.#options.onFault?.(error));
  }

  #poke(): void {
    this.#woken = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    while (this.#running) {
      this.#woken = false;
      let taken = 0;
      try {
        await this.#watchClock();
        taken = await this.#takeOnce();
      } catch (error) {
        this.#fault(error);
      }
      // Having got something, look again: there may be more, and asking an empty queue is cheap.
      if (taken === 0 && !this.#woken) await this.#rest();
    }
  }

  async #takeOnce(): Promise<number> {
    const { queue, concurrency, now } = this.#options;
    const free = concurrency - this.#out.size;
    if (free <= 0) return 0;
    const at = now();
    const limit = Math.min(free, TAKE_LIMIT_JOBS);
    const jobs = await queue.take({ now: at, limit, room: (group) => this.#groups.room(group, free, at) });
    for (const job of jobs) {
      // A jump of the clock can end the lease of a job that is still out here: it has been prolonged by being taken.
      const known = this.#out.has(job.id);
      this.#out.set(job.id, job);
      if (!known) this.#attempt(job).catch((error: unknown) => this.#fault(error));
    }
    return jobs.length;
  }

  async #attempt(job: Job): Promise<void> {
    this.#groups.started(job.group);
    let outcome: Outcome;
    try {
      outcome = await this.#options.handle(job);
    } catch (error) {
      this.#fault(error);
      const due = this.#options.now() + THROWN_DELAY_MS;
      outcome = { verdict: { kind: "later", due, error: "the attempt could not be made" }, healthy: null };
    }
    this.#note(job.group, outcome.healthy);
    this.#settlements.push({ job: this.#out.get(job.id) ?? job, verdict: outcome.verdict });
    this.#settling ??= this.#settleAll();
  }

  #note(group: string, healthy: boolean | null): void {
    if (healthy === null) {
      this.#groups.returned(group);
      return;
    }
    const turn = healthy ? this.#groups.succeeded(group) : this.#groups.failed(group, this.#options.now());
    if (turn.kind !== "same") this.#besides(this.#tell(group, turn));
  }

  /** What was learnt of a group is written down: other instances, and this one after a restart, go by it. */
  async #tell(group: string, turn: Exclude<Turn, { kind: "same" }>): Promise<void> {
    const { queue, giveUpMs, onBuried, now } = this.#options;
    if (turn.kind === "recovered") return queue.pause(group, { pausedUntil: 0, failingSince: null });
    const before = await queue.health(group);
    const failingSince = Math.min(before.failingSince ?? turn.failingSince, turn.failingSince);
    await queue.pause(group, { pausedUntil: turn.until, failingSince });
    if (giveUpMs === undefined || now() - failingSince < giveUpMs) return;
    let buried: number;
    do {
      buried = (await queue.bury(group, now() - giveUpMs, "its group has failed for too long")).length;
      if (buried > 0) onBuried?.(group, buried);
    } while (buried > 0);
  }

  async #settleAll(): Promise<void> {
    const { queue, effect, now } = this.#options;
    // The attempts that end in the same turn of the event loop share a transaction.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#settlements.length > 0) {
      const batch = this.#settlements;
      this.#settlements = [];
      try {
        await queue.settle(batch, now(), effect);
        for (const { job } of batch) this.#release(job.id);
        this.#poke();
      } catch (error) {
        // A full disk, a database away: what happened stays known here and is written when it can be.
        this.#fault(error);
        this.#settlements.unshift(...batch);
        await new Promise((resolve) => setTimeout(resolve, FAULT_DELAY_MS));
        if (!this.#running) this.#abandon();
      }
    }
    // In the same turn as the look at an empty list: what comes later starts anew.
    this.#settling = undefined;
  }

  /** Stopping while the database is away: the leases end by themselves, and the attempts are made again. */
  #abandon(): void {
    for (const { job } of this.#settlements) this.#release(job.id);
    this.#settlements = [];
  }

  #release(id: number): void {
    this.#out.delete(id);
    this.#renewed.delete(id);
  }

  async #renew(): Promise<void> {
    const { queue, now, renewMs } = this.#options;
    const at = now();
    const old = [...this.#out.values()].filter(
      ({ id, startedAt }) => Math.abs(at - (this.#renewed.get(id) ?? startedAt)) >= renewMs / 2,
    );
    if (old.length === 0) return;
    try {
      await queue.renew(old, at);
      for (const { id } of old) if (this.#out.has(id)) this.#renewed.set(id, at);
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
    this.#groups.pull(at + this.#options.maxPauseMs);
    try {
      await this.#options.queue.pull(horizon, at);
    } catch (error) {
      this.#fault(error);
    }
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#options.pollMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
