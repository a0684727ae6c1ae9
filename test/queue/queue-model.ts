/** What a queue promises, kept in memory: what the real one does is judged by it. Times are unix milliseconds. */
import * as assert from "uvu/assert";
import { LATE_MS } from "../../runtime/queue/jobs.js";
import type { EndpointHealth, EndpointNote, Job, JobOutcome, JobState, ListedJob } from "../../runtime/queue/types.js";

export const ENDPOINTS = ["a", "b", "c"] as const;
export const ORDERING_KEYS = ["x", "y", "z"] as const;
/** Milliseconds a lease lasts: longer than a run, where the database's own clock judges it. */
export const MODEL_LEASE = 60_000;

/** A lease. Between the two times it may hold or not: the clock was set back since it was given. */
interface Lease {
  readonly token: string;
  /** It holds before. */
  sure: number;
  /** It is over then. */
  over: number;
}

export interface ModelJob {
  readonly id: number;
  readonly key: string;
  readonly orderingKey: string | null;
  endpoint: string;
  state: JobState;
  attempts: number;
  /** Not to be leased before; when it ended, where it has. */
  due: number;
  /** Nor, where one before it under its key has it wait, has it to be leased before. */
  late: number;
  createdAt: number;
  firstAt: number | null;
  startedAt: number;
  lease: Lease | undefined;
}

interface ModelEndpoint {
  pausedUntil: number;
  failingSince: number | null;
  resumedAt: number;
  /** The clock was set back after so long that nobody need know of it any more. */
  mayBeForgotten: boolean;
  stopped: boolean;
}

const unknown: ModelEndpoint = {
  pausedUntil: 0,
  failingSince: null,
  resumedAt: 0,
  mayBeForgotten: false,
  stopped: false,
};

export class QueueModel {
  readonly jobs = new Map<number, ModelJob>();
  readonly endpoints = new Map<string, ModelEndpoint>();
  /** Moved by the test, for the queue too. */
  readonly clock: { at: number };

  constructor(clock: { at: number }) {
    this.clock = clock;
  }

  get now(): number {
    return this.clock.at;
  }

  endpoint(name: string): ModelEndpoint {
    const known = this.endpoints.get(name) ?? { ...unknown };
    this.endpoints.set(name, known);
    return known;
  }

  get ready(): ModelJob[] {
    return [...this.jobs.values()].filter(({ state }) => state === "ready");
  }

  get kept(): ModelJob[] {
    return [...this.jobs.values()].filter(({ state }) => state !== "ready");
  }

  added(
    { id, key, orderingKey, endpoint }: Pick<ListedJob, "id" | "key" | "orderingKey" | "endpoint">,
    due: number,
  ): void {
    const fresh = { state: "ready", attempts: 0, createdAt: this.now, firstAt: null, startedAt: 0 } as const;
    const job: ModelJob = { id, key, orderingKey, endpoint, due, late: due, lease: undefined, ...fresh };
    this.jobs.set(id, job);
    this.#haveWait(job);
  }

  isHeld = ({ lease }: ModelJob): boolean => lease !== undefined && this.now < lease.sure;
  mayBeHeld = ({ lease }: ModelJob): boolean => lease !== undefined && this.now < lease.over;

  /** What nobody holds surely, or may have been left with its lease, under a key. */
  waitingUnder(orderingKey: string, endpoint?: string): ModelJob[] {
    return this.ready.filter(
      (one) =>
        one.orderingKey === orderingKey &&
        !this.mayBeHeld(one) &&
        (endpoint === undefined || one.endpoint === endpoint),
    );
  }

  /** Those never attempted under its key, itself among them, by their age. */
  #line({ orderingKey }: ModelJob): ModelJob[] {
    const line = this.ready.filter((one) => one.orderingKey === orderingKey && one.attempts === 0);
    return line.sort((one, other) => one.id - other.id);
  }

  /** Those behind the first under its key: the time of each is when it is its turn. */
  #haveWait(job: ModelJob): void {
    if (!this.#isOrdered(job)) return;
    for (const one of this.#line(job).slice(1)) one.due = Math.min(one.due, this.now);
  }

  /** Whether it goes by its place under a key. */
  #isOrdered = ({ orderingKey, attempts }: ModelJob): boolean => orderingKey !== null && attempts === 0;

  /** Whether a look with room has to find it. */
  isDue(job: ModelJob): boolean {
    const { stopped, pausedUntil } = this.endpoint(job.endpoint);
    if (
      job.state !== "ready" ||
      stopped ||
      pausedUntil > this.now ||
      Math.max(job.due, job.late) > this.now ||
      this.mayBeHeld(job)
    )
      return false;
    if (!this.#isOrdered(job)) return true;
    const line = this.#line(job);
    return line[0] === job && !line.some(this.mayBeHeld);
  }

  /** Judges what was leased in one take. */
  taken(jobs: readonly Job[], { limit, room }: { readonly limit: number; readonly room: number }): void {
    assert.ok(jobs.length <= limit, "more than were asked for");
    for (const { endpoint } of jobs)
      assert.ok(jobs.filter((one) => one.endpoint === endpoint).length <= room, `no more room at ${endpoint}`);
    for (const job of jobs) this.#leased(job);
  }

  #leased(job: Job): void {
    const known = this.jobs.get(job.id);
    assert.ok(known?.state === "ready", `${job.key} is not ready`);
    assert.not.ok(this.isHeld(known), `${job.key} is leased twice at a time`);
    const { stopped, pausedUntil } = this.endpoint(known.endpoint);
    assert.not.ok(stopped || pausedUntil > this.now, `${job.key} is leased of an endpoint that is left alone`);
    assert.ok(known.due <= this.now, `${job.key} is leased before its time`);
    assert.equal([job.endpoint, job.attempts], [known.endpoint, known.attempts]);
    if (this.#isOrdered(known)) {
      const line = this.#line(known);
      assert.is(line[0]!.key, known.key, `${job.key} is leased before an earlier one`);
      assert.not.ok(line.some(this.isHeld), `${job.key} is leased while another under its key is`);
    }
    const until = this.now + MODEL_LEASE;
    const lease = { token: job.token, sure: until, over: until };
    Object.assign(known, { lease, startedAt: this.now, firstAt: known.firstAt ?? this.now });
  }

  /** Whether what is said under a token of a job counts: undefined where its lease is over, and somebody may have ended it. */
  counts({ id, token }: Job): boolean | undefined {
    const known = this.jobs.get(id);
    if (known?.lease?.token !== token || known.state !== "ready") return false;
    return this.isHeld(known) ? true : undefined;
  }

  /** An acknowledgement took effect. */
  acked(job: Job, outcome: JobOutcome): void {
    const known = this.jobs.get(job.id)!;
    known.lease = undefined;
    if (outcome.kind === "done") this.jobs.delete(job.id);
    if ("due" in outcome) Object.assign(known, { due: outcome.due, late: outcome.due });
    if (outcome.kind === "later" || outcome.kind === "dead") known.attempts += 1;
    else if (known.attempts === 0 || known.firstAt === known.startedAt) known.firstAt = null;
    if (outcome.kind === "dead" || outcome.kind === "refused") this.ended(known, outcome.kind);
    if (outcome.kind !== "released") return;
    known.endpoint = outcome.endpoint ?? known.endpoint;
    this.#haveWait(known);
  }

  /** Its lease was over, and is another's or nobody's now. */
  lost({ id }: Job): void {
    this.jobs.get(id)!.lease = undefined;
  }

  renewed({ id }: Job): void {
    const until = this.now + MODEL_LEASE;
    Object.assign(this.jobs.get(id)!.lease!, { sure: until, over: until });
  }

  replayed(job: ModelJob): void {
    Object.assign(job, {
      state: "ready",
      due: this.now,
      late: this.now,
      createdAt: this.now,
      firstAt: null,
      lease: undefined,
    });
    this.#haveWait(job);
  }

  /** Ended, where it waited or by an attempt. */
  ended(job: ModelJob, state: JobState): void {
    Object.assign(job, { state, due: this.now, lease: undefined });
  }

  /** @param noted what is noted now */
  paused(name: string, { pausedUntil, failingSince, began }: EndpointNote, noted: EndpointHealth): void {
    const known = this.endpoint(name);
    if (known.resumedAt > began) {
      if (known.mayBeForgotten) Object.assign(known, noted);
      return;
    }
    const since = [known.failingSince, failingSince].filter((one) => one !== null);
    known.pausedUntil = Math.max(known.pausedUntil, pausedUntil);
    known.failingSince = since.length === 0 ? null : Math.max(Math.min(...since), known.resumedAt);
  }

  recovered(name: string, until: number): void {
    const known = this.endpoint(name);
    Object.assign(known, { failingSince: null, pausedUntil: Math.min(known.pausedUntil, until) });
  }

  /** @returns whether there was anything to end, where that is sure */
  resumed(name: string): boolean | undefined {
    const known = this.endpoint(name);
    const { stopped, failingSince, pausedUntil } = known;
    const noted = stopped || failingSince !== null || pausedUntil > this.now;
    const answer = noted ? true : pausedUntil === 0 ? false : undefined;
    if (answer !== false) Object.assign(known, { pausedUntil: 0, failingSince: null, stopped: false });
    return answer;
  }

  /** Whatever lay beyond was brought to now. @param heldBy leases are judged by the clock that was set back, or by another */
  setBack(ms: number, heldBy: "clock" | "database"): void {
    for (const job of this.ready) {
      Object.assign(job, { due: Math.min(job.due, this.now), late: Math.min(job.late, this.now) });
      if (job.lease !== undefined) setLeaseBack(job.lease, { ms, heldBy, now: this.now });
    }
    for (const endpoint of this.endpoints.values()) {
      const { pausedUntil, resumedAt } = endpoint;
      Object.assign(endpoint, {
        pausedUntil: Math.min(pausedUntil, this.now),
        resumedAt: Math.min(resumedAt, this.now),
        mayBeForgotten: endpoint.mayBeForgotten || resumedAt <= this.now + ms - LATE_MS,
      });
    }
  }
}

interface SetBack {
  readonly ms: number;
  readonly now: number;
  readonly heldBy: "clock" | "database";
}

function setLeaseBack(lease: Lease, { ms, now, heldBy }: SetBack): void {
  const isOver = lease.sure <= now + ms;
  if (heldBy === "database") Object.assign(lease, { sure: lease.sure - ms, over: lease.over - ms });
  else
    Object.assign(lease, {
      sure: Math.min(lease.sure, now + MODEL_LEASE),
      over: Math.min(lease.over, now + MODEL_LEASE),
    });
  // Where it was over already somebody may have taken it back.
  if (isOver) lease.sure = 0;
}
