/** Jobs that are leased here, and their leases: renewed while they are held, by two clocks, of which one may stand still. */
import type { HeldJob, Leasable } from "./ahead.js";
import type { JobSource } from "./job-loop-options.js";

/** Part of a lease that is left unused: a request that is begun at its end would run beyond it. */
const LEASE_MARGIN = 0.1;

/** When something is asked for, by the process's own clock and by the system's. */
export const times = () => ({ since: performance.now(), sinceWall: Date.now() });

export class HeldJobs<J extends Leasable> {
  readonly #held = new Map<number, HeldJob<J>>();
  #renewing: NodeJS.Timeout | undefined;

  constructor(
    readonly source: JobSource<J>,
    readonly renewMs: number,
  ) {}

  get size(): number {
    return this.#held.size;
  }

  get jobs(): readonly J[] {
    return [...this.#held.values()].map(({ job }) => job);
  }

  get(id: number): HeldJob<J> | undefined {
    return this.#held.get(id);
  }

  add(job: J, endpoint: string, { since, sinceWall }: ReturnType<typeof times>): HeldJob<J> {
    const held = { job, endpoint, since, sinceWall, waitsSince: since, begun: false, again: false };
    this.#held.set(job.id, held);
    return held;
  }

  delete(held: HeldJob<J>): void {
    this.#held.delete(held.job.id);
  }

  isLive({ since, sinceWall }: HeldJob<J>): boolean {
    const life = this.source.leaseMs * (1 - LEASE_MARGIN);
    return performance.now() - since < life && Date.now() - sinceWall < life;
  }

  /** Prolongs leases from now on. @param besides given each renewal; it tells of its faults */
  keep(besides: (renewal: Promise<void>) => void): void {
    this.#renewing = setInterval(() => besides(this.#renew()), this.renewMs);
    if (!this.source.keepsAlive) this.#renewing.unref();
  }

  /** Leaves leases to themselves. */
  leave(): void {
    clearInterval(this.#renewing);
  }

  /** Of those that are not young. */
  async #renew(): Promise<void> {
    const now = times();
    const old = [...this.#held.values()].filter(({ since }) => now.since - since >= this.renewMs / 2);
    if (old.length === 0) return;
    const ours = await this.source.renew(old.map(({ job }) => job));
    for (const held of old) if (ours.has(held.job.id)) Object.assign(held, now);
  }
}
