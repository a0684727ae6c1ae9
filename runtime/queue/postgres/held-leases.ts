/**
 * Renews leases. The rows of some may be held by a transaction of the application's, as by one that registers anew what they are of,
 * for longer than a lease lasts. While its attempt is under way such a row is waited for, and the lease is ours again as that
 * transaction ends: only who looks in the very milliseconds in which the server hands the row on leases it too.
 */
import { type PostgresDatabase, runAsync } from "../../db/index.js";
import { isRowKept } from "../../db/postgres/faults.js";
import type { Job } from "../jobs.js";
import { renewJob, renewJobs } from "./jobs.js";

/** One wait for a row, in milliseconds, and one where there are several of them: different transactions may hold them. */
const WAIT_MS = 1_000;
const TURN_MS = 100;

interface HeldLease {
  readonly job: Job;
  /** Until when it is ours, as `performance.now()` says it, unless it is asked for again. */
  readonly until: number;
}

export class HeldLeases {
  readonly #held = new Map<number, HeldLease>();
  #waits = false;

  constructor(
    readonly database: Pick<PostgresDatabase, "query" | "statements" | "transaction">,
    readonly leaseMs: number,
  ) {}

  /**
   * @param begun ids of those whose attempts are under way; none by default
   * @returns ids of those that are renewed
   */
  async renew(jobs: readonly Job[], begun: ReadonlySet<number> = new Set()): Promise<ReadonlySet<number>> {
    const ours = await this.#free(jobs);
    const until = performance.now() + this.leaseMs;
    for (const job of jobs) if (begun.has(job.id) && !ours.has(job.id)) this.#held.set(job.id, { job, until });
    // Where the database fails the next renewal fails too, and is told of.
    if (this.#held.size > 0 && !this.#waits) this.#wait().catch(() => undefined);
    return ours;
  }

  /** Renews those whose rows nobody holds. */
  async #free(jobs: readonly Job[]): Promise<ReadonlySet<number>> {
    const ours =
      jobs.length === 0 ? new Set<number>() : await this.database.query((q) => renewJobs(q, jobs, this.leaseMs));
    for (const id of ours) this.#held.delete(id);
    return ours;
  }

  async #wait(): Promise<void> {
    this.#waits = true;
    try {
      for (let turn = 0; this.#held.size > 0; turn += 1) {
        const all = [...this.#held.values()];
        const held = all[turn % all.length]!;
        const isOver = held.until <= performance.now();
        if (!isOver && !(await this.#renewed(held.job, all.length === 1 ? WAIT_MS : TURN_MS))) continue;
        if (this.#held.get(held.job.id) === held) this.#held.delete(held.job.id);
        // Who held that row may have held the others.
        if (!isOver) await this.#free([...this.#held.values()].map(({ job }) => job));
      }
    } finally {
      this.#waits = false;
    }
  }

  /** @returns false where its row is held still; true too where the lease is nobody's any more */
  async #renewed(job: Job, waitMs: number): Promise<boolean> {
    try {
      await this.database.transaction(
        (tx) => runAsync(renewJob(this.database.statements(tx), job, this.leaseMs)),
        waitMs,
      );
      return true;
    } catch (error) {
      if (isRowKept(error)) return false;
      throw error;
    }
  }
}
