/** What is done to jobs on SQLite. Everything runs inside a transaction the caller holds, and never waits. */
import type { RoomOf } from "../endpoint-options.js";
import type { Ack, EndpointHealth, EndpointNote, EndpointRecord, EndpointRecovery, Job, NewJob } from "../jobs.js";
import type { OrderingKeys } from "../ordering-keys.js";

/** An endpoint in the order of who has waited longest. */
export type TurnPlace = readonly [readyAt: number, endpoint: string];

/** How far the looks of a queue have come, where more endpoints have something due than one look reads. */
export interface Round {
  /** The next look goes on behind it; undefined at the beginning. */
  after?: TurnPlace | undefined;
  /** What is behind it has come since. */
  seen: TurnPlace;
  /** Nobody was found since the beginning. */
  vain: boolean;
  /** The last look came to the end, and nobody can be found who was there at the beginning. */
  whole: boolean;
}

export interface TakeSqlite {
  readonly topic: string;
  readonly token: string;
  readonly now: number;
  /** End of the leases. */
  readonly until: number;
  readonly limit: number;
  /** About how many bytes of bodies; any number by default. */
  readonly bytes?: number;
  /** How many more of an endpoint may be leased. */
  readonly room: RoomOf;
  readonly round: Round;
}

export interface SqliteJobs {
  add(topic: string, jobs: readonly NewJob[], now: number): void;
  /** What waits under ordering keys becomes another endpoint's. */
  redirect(topic: string, orderingKeys: OrderingKeys, endpoint: string, now: number): void;
  take(request: TakeSqlite): Job[];
  /** Answers, for each, whether its token was still its job's; only then anything was written. */
  ack(acks: readonly Ack[], now: number): boolean[];
  /** Answers the ids of those that are still held under their tokens. */
  renew(jobs: readonly Job[], until: number): Set<number>;
  /** Answers what is noted of it now. */
  pause(topic: string, endpoint: string, note: EndpointNote): EndpointHealth;
  recover(topic: string, endpoint: string, recovery: EndpointRecovery): void;
  health(topic: string, endpoint: string): EndpointHealth;
  unwell(topic: string, now: number, limit: number): string[];
  /** Gives up jobs of an endpoint that were attempted, first before a time. */
  deadLetter(topic: string, endpoint: string, given: EndingRequest): number;
  /** Ends jobs of an endpoint that were never attempted, and added before a time. */
  expire(topic: string, endpoint: string, given: EndingRequest): number;
  /** Ends the oldest unattempted jobs of an endpoint that has more than `keep`. */
  expireBeyond(
    topic: string,
    endpoint: string,
    given: Omit<EndingRequest, "before"> & { readonly keep: number },
  ): number;
  stop(topic: string, endpoint: string, now: number): void;
  /** Those of some endpoints that are. */
  stopped(topic: string, endpoints: readonly string[]): string[];
  resume(topic: string, endpoint: string, now: number): boolean;
  endpoints(topic: string, after: string, limit: number): EndpointRecord[];
  /** Brings jobs and endpoints that lie beyond `horizon` to `now`, and ends of leases to `leased`: the clock has been set back. */
  pull(topic: string, times: { readonly horizon: number; readonly now: number; readonly leased: number }): number;
  /** Makes the next job under each ordering key due, unless one is under way: it goes after that. */
  letNextGo(topic: string, ended: readonly EndedInOrder[], now: number): void;
  /** Of those that were never attempted under an ordering key the first goes, unless one is under way: then it goes after that. */
  orderAnew(topic: string, orderingKey: string, now: number): void;
  /** Says when something of an endpoint may be due. */
  touch(topic: string, endpoint: string, readyAt: number): void;
}

/**
 * A job that has ended under an ordering key, and did not wait for another. Where it was the first, nothing else is under way, and
 * the rest, of which there may be a hundred thousand, is not looked through for it. Without an id nothing is known of who was.
 */
export interface EndedInOrder {
  readonly orderingKey: string;
  readonly id?: number;
}

export interface EndingRequest {
  /** Most jobs. */
  readonly limit?: number;
  readonly before: number;
  readonly now: number;
  readonly error: string;
}

export const READY = "state = 'ready'";
/** Condition on a job that nobody holds; parameter: now. A token whose lease has ended is nobody's. */
export const UNHELD = "(token is null or due <= ?)";
/** What is sent of a job in `j`. */
export const JOB_BODY = "left join adbind_job_bodies b on b.job = j.id";

/** What the others are made of. */
export type Basics = Pick<SqliteJobs, "letNextGo" | "orderAnew" | "touch">;
