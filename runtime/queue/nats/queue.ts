/**
 * The queue of a fleet on many databases: jobs are in PostgreSQL from commit to end, and are handed out by a stream that a
 * majority of servers keeps. docs/deliveries-on-nats.md says what is promised when.
 */
import { randomUUID } from "node:crypto";
import { type Coroutine, type PostgresDatabase, type Query, runAsync } from "../../db/index.js";
import { isRowKept } from "../../db/postgres/faults.js";
import { postponeJobs } from "../postgres/jobs.js";
import { PostgresQueue } from "../postgres/queue.js";
import type { Room } from "../postgres/rooms.js";
import { Turns } from "../postgres/turns.js";
import type { Ack, AckEffect, AckResult, Job, QueueOptions, TakeRequest } from "../types.js";
import type { NatsOptions } from "./options.js";
import { type LeasedTicket, LONGER_MS, type NewTicket, type Servers } from "./servers.js";
import { sortTickets } from "./sorted.js";
import {
  type ClaimedJobs,
  type ClaimRequest,
  claimFreeRows,
  claimRows,
  markRows,
  pickRows,
  type TicketRow,
  unmarkRows,
} from "./tickets.js";

/** How long a ticket that nobody claims is waited for, in milliseconds: longer than a killed deliverer's lease. */
const RESEND_MS = 30_000;
/** Rows picked, or tickets leased, again in one take, while all that was found has to wait. */
const ROUNDS = 16;
/** After which time a ticket comes again for whose endpoint there was no room here, in milliseconds. */
const NO_ROOM_MS = 100;
/** How long the row of a ticket is waited for, in milliseconds. */
const ROW_MS = 100;
/** How long tickets that were just put in are waited for, in milliseconds: another deliverer may have had them. */
const ARRIVAL_MS = 100;
/** Between two looks for them, in milliseconds. */
const LOOK_MS = 2;
/** How long one request for a ticket stands while there is nothing to do, in milliseconds. */
const STANDING_MS = 20_000;
/** Before the next standing request after one has failed, in milliseconds. */
const AWAY_MS = 2_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class NatsQueue extends PostgresQueue {
  /** What a process held when it was killed came back in 11 s; with six, in 20. */
  readonly leasedPerSlot = 4;
  readonly #turns: Turns;
  readonly #resendMs: number;
  readonly #listeners = new Set<() => void>();
  /** Tickets of jobs that are leased here. */
  readonly #tickets = new Map<number, { readonly token: string; readonly ticket: LeasedTicket }>();
  /** Tickets that came while nothing was asked for. */
  readonly #early: LeasedTicket[] = [];
  #arrivalMs = ARRIVAL_MS;
  #standing: Promise<void> | undefined;
  #closed = false;
  /** Why the servers could not be used at last; undefined while they can. */
  #away: string | undefined;

  constructor(
    database: PostgresDatabase,
    topic: string,
    readonly servers: Servers,
    { resendMs = RESEND_MS, ...options }: QueueOptions & Pick<NatsOptions, "resendMs">,
  ) {
    super(database, topic, options);
    this.#turns = new Turns(database, topic, this.leaseMs);
    this.#resendMs = resendMs;
  }

  /** Events that are leased when the servers go away are answered all the same: nobody else would know that they are leased. */
  override async take(request: TakeRequest): Promise<Job[]> {
    this.tidy(request.now);
    const jobs: Job[] = [];
    try {
      await this.#takeInto(jobs, request);
      this.#away = undefined;
    } catch (error) {
      this.#gone(error);
      if (jobs.length === 0) throw error;
    }
    return jobs;
  }

  async #takeInto(jobs: Job[], { now, limit, room }: TakeRequest): Promise<void> {
    const taken = new Map<string, number>();
    const left = (endpoint: string): number => Math.max(0, room(endpoint) - (taken.get(endpoint) ?? 0));
    const claim = async (tickets: readonly LeasedTicket[]): Promise<readonly Job[]> => {
      const claimed = await this.#claim(tickets, now, left);
      for (const { endpoint } of claimed) taken.set(endpoint, (taken.get(endpoint) ?? 0) + 1);
      jobs.push(...claimed);
      return claimed;
    };
    // What is in the stream goes first; a look at the database costs no time beside it.
    const [tickets, rooms] = await Promise.all([this.#leased(limit), this.#turns.rooms({ now, limit, room })]);
    let came = tickets.length;
    // Where there was no room for any of them others' are behind them.
    for (let round = 0, none = (await claim(tickets)).length === 0; none && came >= limit && round < ROUNDS; round++) {
      const more = await this.#leased(limit);
      came = more.length;
      none = (await claim(more)).length === 0;
    }
    if (jobs.length < limit) {
      const free = rooms
        .map(([endpoint]): Room => [endpoint, Math.min(left(endpoint), limit)])
        .filter(([, n]) => n > 0);
      const put = await this.#put(free, now, limit - jobs.length);
      await this.#arrived(put, async (count) => (await claim(await this.#leased(count))).length);
    }
    if (jobs.length === 0) this.#stand();
  }

  /** Has tickets claimed that were just put in, until all are, or others seem to have had them. */
  async #arrived(put: number, claim: (count: number) => Promise<number>): Promise<void> {
    const end = performance.now() + this.#arrivalMs;
    let left = put;
    while (left > 0 && performance.now() < end) {
      const claimed = await claim(left);
      left -= claimed;
      if (claimed === 0) await pause(LOOK_MS);
    }
    if (put > 0) this.#arrivalMs = left > 0 ? Math.max(LOOK_MS, this.#arrivalMs / 2) : ARRIVAL_MS;
  }

  #gone(error: unknown): void {
    this.#away = error instanceof Error ? error.message : String(error);
  }

  /** Tickets that are there: those that came by themselves first. */
  async #leased(limit: number): Promise<readonly LeasedTicket[]> {
    const tickets = this.#early.splice(0, limit);
    if (tickets.length >= limit) return tickets;
    try {
      return [...tickets, ...(await this.servers.lease(limit - tickets.length))];
    } catch (error) {
      if (tickets.length === 0) throw error;
      this.#gone(error);
      return tickets;
    }
  }

  /** Claims the rows of tickets. */
  async #claim(tickets: readonly LeasedTicket[], now: number, room: TakeRequest["room"]): Promise<readonly Job[]> {
    if (tickets.length === 0) return [];
    const { byJob, doubles, back, toRelay } = sortTickets(tickets, room);
    const { leaseMs, database } = this;
    const request = { ids: [...byJob.keys()], now, token: randomUUID(), leaseMs, where: database.where };
    const { jobs, held } = await this.#claimed(request);
    for (const { id, token } of jobs) this.#tickets.set(id, { token, ticket: byJob.get(id)! });
    const ours = new Set(jobs.map(({ id }) => id));
    const others = [...byJob.values()].filter(({ job }) => !ours.has(job));
    await this.servers.renew([...byJob.values()].filter(({ job }) => ours.has(job)));
    await this.servers.giveBack(back, NO_ROOM_MS);
    await this.servers.giveBack(
      others.filter(({ job }) => held.has(job)),
      this.leaseMs / 4 + LONGER_MS,
    );
    if (toRelay.length > 0)
      await database.query((q) =>
        unmarkRows(
          q,
          toRelay.map(({ job }) => job),
        ),
      );
    await this.servers.done([...doubles, ...toRelay, ...others.filter(({ job }) => !held.has(job))]);
    return jobs;
  }

  /**
   * Puts tickets into the stream, for as much as there is room for, and marks their rows when a majority of the servers has them.
   * The rows are locked meanwhile: other relays pass them over, and who is quick to lease a ticket waits for its row.
   * @returns how many
   */
  async #put(rooms: readonly Room[], now: number, limit: number): Promise<number> {
    if (rooms.length === 0) return 0;
    const request = { now, rooms, limit, resendMs: this.#resendMs };
    for (let round = 0; round < ROUNDS; round++) {
      const { found, behind } = await this.database.transaction(async (client) => {
        const q = this.database.statements(client);
        const picked = await runAsync(pickRows(q, this.topic, request));
        if (picked.behind.length > 0) await runAsync(postponeJobs(q, picked.behind, now));
        if (picked.found.length === 0) return picked;
        await this.servers.put(picked.found.map((row) => this.#ticketOf(row)));
        await runAsync(
          markRows(
            q,
            picked.found.map(({ id }) => id),
          ),
        );
        return picked;
      });
      if (found.length >= limit) this.#turns.endedAt(found);
      if (found.length > 0 || behind.length === 0) return found.length;
    }
    return 0;
  }

  /** A row has one under each of its versions, whoever puts it in. */
  #ticketOf({ id, endpoint, version }: TicketRow): NewTicket {
    return { id: `${this.servers.of.source}.${id}.${version}`, job: id, endpoint };
  }

  /** A relay holds a row for a moment; where somebody else does for longer, the others are claimed without it. */
  async #claimed(request: ClaimRequest): Promise<ClaimedJobs> {
    try {
      return await this.database.query((q) => claimRows(q, this.topic, { ...request, lockMs: ROW_MS }));
    } catch (error) {
      if (!isRowKept(error)) throw error;
    }
    return this.database.query((q) => claimFreeRows(q, this.topic, request));
  }

  override async ack(acks: readonly Ack[], now: number, effect?: AckEffect, waitMs?: number): Promise<AckResult[]> {
    const scheduled = await this.#schedule(acks, now);
    const marking = function* (query: Query, acked: readonly Ack[]): Coroutine<void> {
      if (effect !== undefined) yield* effect(query, acked);
      const retries = acked.map(({ job }) => job.id).filter((id) => scheduled.has(id));
      if (retries.length > 0) yield* markRows(query, retries);
    };
    const results = await super.ack(acks, now, marking, waitMs);
    const over: LeasedTicket[] = [];
    for (const [at, { job }] of acks.entries()) {
      const known = this.#tickets.get(job.id);
      if (known?.token !== job.token || typeof results[at] !== "boolean") continue;
      this.#tickets.delete(job.id);
      // Where the lease was lost the ticket is another's now.
      if (results[at] === true) over.push(known.ticket);
    }
    await this.servers.done(over);
    return results;
  }

  /** Puts the tickets of retries in, before their rows say that there are any. Where that fails a relay finds them when they are due. */
  async #schedule(acks: readonly Ack[], now: number): Promise<ReadonlySet<number>> {
    const retries = acks.flatMap(({ job: { id, token, endpoint }, outcome }) =>
      outcome.kind === "later"
        ? [{ id: `${this.servers.of.source}.${id}.${token}`, job: id, endpoint, at: Date.now() + outcome.due - now }]
        : [],
    );
    if (retries.length === 0 || this.#away !== undefined) return new Set();
    try {
      await this.servers.put(retries);
      return new Set(retries.map(({ job }) => job));
    } catch (error) {
      this.#gone(error);
      return new Set();
    }
  }

  override async renew(jobs: readonly Job[], now: number, begun?: ReadonlySet<number>): Promise<ReadonlySet<number>> {
    const ours = await super.renew(jobs, now, begun);
    const known = [...ours].flatMap((id) => this.#tickets.get(id) ?? []);
    await this.servers.renew(known.map(({ ticket }) => ticket));
    return ours;
  }

  /** Has a ticket that comes wake the worker. */
  #stand(): void {
    if (this.#listeners.size === 0 || this.#closed || this.#standing !== undefined) return;
    this.#standing = this.servers
      .lease(1, STANDING_MS)
      .then((tickets) => {
        this.#early.push(...tickets);
        if (tickets.length > 0) for (const listener of this.#listeners) listener();
      })
      .catch(() => pause(AWAY_MS))
      .finally(() => {
        this.#standing = undefined;
      });
  }

  override onWake(listener: () => void): () => void {
    this.#listeners.add(listener);
    const stop = super.onWake(listener);
    return () => {
      this.#listeners.delete(listener);
      stop();
    };
  }

  override quietMs(now: number): number | undefined {
    return this.database.listening && this.#standing !== undefined ? this.#turns.quietMs(now) : undefined;
  }

  override async alarms(now: number, activityDays: number): Promise<readonly string[]> {
    const alarms = await super.alarms(now, activityDays);
    return this.#away === undefined
      ? alarms
      : [...alarms, `nothing is delivered: ${this.#away} (${this.servers.where})`];
  }

  override async close(): Promise<void> {
    this.#closed = true;
    await this.servers.giveBack(this.#early.splice(0), 0);
    await this.servers.close();
    await super.close();
  }
}
