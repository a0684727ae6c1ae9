/** What the loop of jobs is given: where it leases them, how their turns are shared out, and who runs them. */
import type { AheadOptions, HeldJob, Leasable } from "./ahead.js";
import type { RoomOf } from "./endpoint-options.js";
import type { TakeRequest } from "./types.js";

/** Where jobs are kept, as far as leasing goes. Who runs a job tells what became of it: done, to be done later, dead. */
export interface JobSource<J extends Leasable> {
  /** Milliseconds a lease lasts from the moment it was asked for. */
  readonly leaseMs: number;
  /** Leases due jobs. */
  claim(request: TakeRequest): Promise<readonly J[]>;
  /** The last claim has not looked at everybody: the next one goes on from there. Never, by default. */
  goesOn?(): boolean;
  /** Prolongs leases. @param begun ids of those that run @returns ids of those that are still ours */
  renew(jobs: readonly J[], begun: ReadonlySet<number>): Promise<ReadonlySet<number>>;
  /** Gives back jobs that have not begun, as if they had not been leased. */
  release(jobs: readonly J[]): Promise<void>;
  /**
   * How long to rest after a look that found nothing, in milliseconds.
   * @param idle rests in a row with nothing leased
   * @param known nothing is leased, and the look was answered
   */
  restMs(idle: number, known: boolean): number;
  /** Calls `listener` when there may be something to lease. @returns stops it */
  onWake(listener: () => void): () => void;
  /** Its timers keep a process alive that has nothing else to do. */
  readonly keepsAlive: boolean;
}

/** How slots are shared out among endpoints. */
export interface Sharing<J> {
  endpointOf(job: J): string;
  /**
   * Shares out what is free, once.
   * @param now unix milliseconds
   * @param ahead jobs that may be leased before there is a slot for them
   */
  plan(free: number, now: number, ahead: number): RoomOf;
  /** How many attempts of an endpoint may be under way. */
  widthOf(endpoint: string): number;
  /** A job of it was leased, and will start. */
  started(endpoint: string, now: number): void;
  /** A job of it was given back. */
  returned(endpoint: string): void;
}

/** An attempt's turn, as who makes it sees it. */
export interface AttemptTurn {
  /** Whether the job is still ours: asked just before anything that others see. */
  live(): boolean;
  /** Gives the slot to the next: what is left is to write down what became of the job. */
  free(): void;
}

/** What went wrong, and with which jobs; it is tried again, or left to its lease. */
export interface JobLoopFault<J> {
  readonly doing: "look" | "renew" | "give back" | "attempt";
  readonly error: unknown;
  readonly jobs: readonly J[];
}

export interface JobLoopOptions<J extends Leasable> {
  readonly source: JobSource<J>;
  readonly sharing: Sharing<J>;
  /** Attempts at once, and how jobs wait for their turn. */
  readonly turns: Pick<AheadOptions<J>, "concurrency" | "atOnce" | "weightOf">;
  /**
   * Makes an attempt, and writes down what became of the job.
   * @returns `kept` where the job is there still and its lease is over: leased again meanwhile, it is attempted again
   */
  attempt(held: HeldJob<J>, turn: AttemptTurn): Promise<"gone" | "kept">;
  /** Jobs claimed before there is a slot for them. */
  readonly ahead: number;
  /** Claims are answered while attempts go on: more are made, so that no slot waits for one. False by default. */
  readonly claimsEarly?: boolean;
  /** Jobs beyond the slots whose attempt has ended, and is being written down. */
  readonly finishing: number;
  /** What may wait here, of what is stored as leased: jobs beyond the slots, and their weight. */
  readonly atHand: { readonly jobs: number; readonly weight: number };
  /** Longest wait for a turn, in milliseconds; then what waits is given back. */
  readonly waitMs: number;
  /** Longest pause between two looks while attempts end all the time, in milliseconds; 20 by default. */
  readonly busyPauseMs?: number;
  /** How often leases are renewed, in milliseconds. */
  readonly renewMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly onFault: (fault: JobLoopFault<J>) => void;
  /** Told of jobs that were leased, before the first of them is attempted. */
  readonly onLeased?: ((jobs: readonly J[]) => void) | undefined;
  /** Done before the first look. */
  readonly starting?: () => Promise<void>;
  /** Done before each look. */
  readonly looking?: () => Promise<void>;
  /** Nothing is leased any more: it is waited for with what has begun. */
  readonly stopping?: () => void | Promise<void>;
}
