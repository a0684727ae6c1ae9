/** Leases jobs for one instance: first of endpoints that are likely to have something due, then of those that were looked for. */
import { randomUUID } from "node:crypto";
import { type PostgresDatabase, refuseHiddenTables } from "../../db/index.js";
import type { Job, TakeRequest } from "../types.js";
import { giveBackJobs, leaseJobs, postponeJobs } from "./jobs.js";
import { KnownDue } from "./known-due.js";
import type { Room } from "./rooms.js";
import { Turns } from "./turns.js";

/** Leases tried in one take, while all that was found has to wait for others under its ordering key. */
const ROUNDS = 16;
/** Of them in a row those that cannot have it wait: who goes first is being acknowledged, or somebody else holds its row. */
const VAIN_ROUNDS = 2;

/** What a take asks for. Where the bodies of what was found are too many bytes, that is as much as could be had. */
type LeaseAsked = { -readonly [Name in keyof TakeRequest]: TakeRequest[Name] };

const endpointsOf = (jobs: readonly Job[]): Set<string> => new Set(jobs.map(({ endpoint }) => endpoint));

export class Leasing {
  readonly #turns: Turns;
  readonly #known: KnownDue;
  /** Jobs asked for at a time: fewer where so many were too many bytes, since the server reads them all. */
  #most = Number.POSITIVE_INFINITY;

  constructor(
    readonly database: Pick<PostgresDatabase, "query" | "queryWoken"> & Partial<Pick<PostgresDatabase, "where">>,
    readonly topic: string,
    readonly leaseMs: number,
    readonly clock: () => number = () => performance.now(),
  ) {
    this.#known = new KnownDue(clock);
    this.#turns = new Turns(database, topic, leaseMs, clock);
  }

  async take(given: TakeRequest): Promise<Job[]> {
    const request = { ...given, limit: Math.min(given.limit, this.#most) };
    const guessed = await this.#guess(request);
    if (guessed.length > 0) return guessed;
    const known = this.#known.rooms(request);
    const more = await this.#lease(known, request);
    this.#known.leased(known, more, request.limit);
    if (more.length > 0) {
      this.#turns.had(endpointsOf(more), false);
      return more;
    }
    const began = this.clock();
    const rooms = await this.#turns.rooms(request);
    // What was added while it was looked is due by now.
    if (rooms.length === 0 && !this.#turns.whole)
      return this.#guess({ ...request, now: request.now + Math.ceil(this.clock() - began) });
    this.#known.looked(rooms, this.#turns.whole, this.clock() - began);
    const jobs = await this.#lease(rooms, request);
    this.#known.leased(rooms, jobs, request.limit);
    if (jobs.length > 0) this.#turns.had(endpointsOf(jobs), true);
    if (jobs.length >= request.limit) this.#turns.endedAt(jobs);
    return jobs;
  }

  async #guess(request: LeaseAsked): Promise<Job[]> {
    const guess = this.#turns.likely(request);
    let [jobs, limit]: [Job[], number] = [[], 0];
    try {
      jobs = await this.#lease(guess.rooms, request, (work) => this.database.queryWoken(work));
      limit = request.limit;
    } finally {
      this.#turns.guessed(guess, jobs, limit);
    }
    if (jobs.length > 0) this.#turns.had(endpointsOf(jobs), false);
    return jobs;
  }

  /** The last look was broken off, and goes on in the next take, before which nobody rests. */
  get goesOn(): boolean {
    return this.#turns.goesOn;
  }

  /** Jobs were added: something may be due of endpoints that were not found. @param endpoints theirs; none where it is not known which */
  added(endpoints: readonly string[] = []): void {
    this.#known.looked([], false, 0);
    this.#turns.added(endpoints);
  }

  /** For how long nothing that the last look found will be due, in milliseconds. */
  quietMs(now: number): number {
    return this.#turns.quietMs(now);
  }

  async #lease(
    rooms: readonly Room[],
    asked: LeaseAsked,
    ask: PostgresDatabase["queryWoken"] = (work) => this.database.query(work),
  ): Promise<Job[]> {
    if (rooms.length === 0) return [];
    const { now, limit, bytes } = asked;
    const request = { now, token: randomUUID(), leaseMs: this.leaseMs, rooms, limit, bytes };
    for (let round = 0, vain = 0; round < ROUNDS && vain < VAIN_ROUNDS; round++) {
      const { jobs, behind, heavy, filtered } = await ask((q) => leaseJobs(q, this.topic, request));
      // They are nobody's again when their leases end.
      if (filtered) await this.database.query((q) => refuseHiddenTables(q, this.database.where ?? this.topic));
      if (heavy.length > 0) {
        asked.limit = jobs.length;
        this.#most = jobs.length;
        await this.database.query((q) => giveBackJobs(q, this.topic, { ids: heavy, token: request.token, now }));
      } else if (jobs.length >= this.#most) this.#most *= 2;
      const postponed = behind.length === 0 ? 0 : await this.database.query((q) => postponeJobs(q, behind, now));
      // What has to wait for others hides what is behind it.
      if (jobs.length > 0 || behind.length === 0) return jobs;
      vain = postponed > 0 ? 0 : vain + 1;
    }
    return [];
  }
}
