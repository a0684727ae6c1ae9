/** What a worker is given, and what it gives its handler. */
import { AdbindError } from "../errors.js";
import type { EndpointOptions, EndpointOwner } from "./endpoint-options.js";
import type { AckEffect, Job, JobOutcome, Queue } from "./types.js";

/** What handling a job came to. */
export interface Handled {
  readonly outcome: JobOutcome;
  /** Whether the endpoint is well, judged by this attempt; null where it says nothing of it. */
  readonly healthy: boolean | null;
  /** The endpoint asked to be left alone until then, unix milliseconds. */
  readonly holdUntil?: number | undefined;
  /** Most jobs a second this process may start for the endpoint; null for no limit. Absent: as it was. */
  readonly perSecond?: number | null;
  /** What the effect of its acknowledgement goes by. */
  readonly note?: object | undefined;
}

/** The right to work on a job, as its handler sees it. */
export interface JobLease {
  /**
   * Whether the job is still ours: asked just before anything that others see. Once false nothing more may be done for it;
   * somebody else has it, or soon will.
   */
  live(): boolean;
}

/** What a worker does with its jobs, how many at a time, and when it gives them up. Times are milliseconds. */
export interface WorkerOptions extends Partial<EndpointOptions> {
  readonly queue: Queue;
  /**
   * Runs one attempt. An AdbindError `job_unreadable` sets the job aside with its reason; whatever else it throws is a
   * fault of ours: the job is tried again later, until `giveUpMs` after its first attempt.
   */
  handle(job: Job, lease: JobLease): Promise<Handled>;
  /** Told of jobs that were leased, which are handled soon: what they need can be looked up for all of them. */
  readonly onLeased?: (jobs: readonly Job[]) => void;
  /** Attempts at once. Default 1,024. A quarter as many more jobs are leased ahead, of endpoints that are well. */
  readonly concurrency?: number;
  /** How often the queue is asked without being woken, in milliseconds. Default 250; ever less often while it is idle. */
  readonly pollMs?: number;
  /** How often leases are renewed, in milliseconds. Default 4,000. */
  readonly renewMs?: number;
  /**
   * How long an acknowledgement waits for those of other attempts, to share a transaction, in milliseconds; once all slots are
   * taken, for no attempt that hangs. Default 16.
   */
  readonly gatherMs?: number;
  /** No delay we give is longer, in milliseconds: what lies further ahead was written by a clock gone wrong. */
  readonly longestDelayMs: number;
  /**
   * Jobs of an endpoint that fails, and those whose handler throws, are given up this many milliseconds after their first
   * attempt. Default: never.
   */
  readonly giveUpMs?: number;
  /** Jobs of an endpoint that fails are ended this many milliseconds after they were added, unattempted. Default: never. */
  readonly expireMs?: number;
  /** Runs in the transaction that acknowledges. */
  readonly effect?: AckEffect;
  /** Told of jobs that ended with their endpoint, and as what. */
  readonly onGivenUp?: (endpoint: string, count: number, state: "dead" | "expired") => void;
  /** Told of faults of the queue itself; they are tried again. */
  readonly onFault?: (error: unknown) => void;
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
}

/** Leases jobs, runs their handler, and acknowledges them. */
export interface Worker {
  start(): void;
  /**
   * Leases nothing more, and waits for what it has: for what hangs no longer than it is told.
   * @param withinMs longest wait, in milliseconds; none by default
   * @returns how many jobs were not waited for: they are left to their lease, and nothing more is written of them
   */
  stop(withinMs?: number): Promise<number>;
  /**
   * An operator has paused an endpoint, or removed a job: what is leased of it here and has not begun is given back, and what
   * has begun is not `live` any more.
   */
  withdraw(what: Withdrawn): void;
  /**
   * An operator ends an endpoint's pauses, those that are noted and those that are only known here. @returns whether there was
   * any @throws what the queue throws
   */
  resume(endpoint: string): Promise<boolean>;
  /** Jobs leased here. */
  readonly out: number;
}

/** What an operator has taken back. */
export type Withdrawn = { readonly endpoint: string } | { readonly job: number };

const defaults = {
  concurrency: 1_024,
  pollMs: 250,
  renewMs: 4_000,
  gatherMs: 16,
  perEndpoint: 64,
  failuresToPause: 5,
  pauseMs: 5_000,
  maxPauseMs: 60_000,
};

/** Parts of the slots, where nothing else is given. */
const partsOf = (concurrency: number) => ({
  perHost: Math.ceil(concurrency / 2),
  perPrincipal: Math.ceil(concurrency / 2),
  perUnproven: Math.ceil(concurrency / 8),
});

/** The options of a worker with every default in. */
export type WorkerSettings = WorkerOptions & typeof defaults & EndpointOptions & { readonly now: () => number };

const definedOf = <T extends object>(given: T): T =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;

/** @throws AdbindError `queue_option_invalid` for a number that is not a positive integer */
export function workerSettingsOf(given: WorkerOptions): WorkerSettings {
  const known = definedOf(given);
  const numbers = { ...defaults, ...partsOf(known.concurrency ?? defaults.concurrency) };
  const ownerOf = (endpoint: string): EndpointOwner => ({ host: endpoint, principal: endpoint });
  const options = { ...numbers, now: Date.now, ownerOf, ...known };
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) {
    const value = options[name];
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new AdbindError("queue_option_invalid", "an option of a worker cannot be used", {
      where: name,
      remedy: "give a positive integer",
    });
  }
  return options;
}
