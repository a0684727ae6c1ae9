/** Jobs that are leased here, and their leases: renewed while they are held, by two clocks, of which one may stand still. */
import type { HeldJob, Leasable } from "./ahead.js";
import type { JobSource } from "./job-loop-options.js";
import type { TakeRequest } from "./types.js";

/** Part of a lease that is left unused: a request that is begun at its end would run beyond it. */
const LEASE_MARGIN = 0.1;

/** When something is asked for, by the process's own clock and by the system's. */
export const times = () => ({ since: performance.now(), sinceWall: Date.now() });

export class HeldJobs<J extends Leasable> {
  readonly #held = new Map<number, HeldJob<J>>();
  #renewing: NodeJS.Timeout | undefined;
  /** What was lost while a claim is under way, which may bring some of it. */
  #lostMeanwhile: ((held: HeldJob<J>) => boolean)[] | undefined;

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

  /** Leases due jobs. Until `claimEnded` it is kept in mind what is lost. */
  claim(request: TakeRequest): Promise<readonly J[]> {
    this.#lostMeanwhile = [];
    return this.source.claim(request);
  }

  /** What was claimed is here. */
  claimEnded(): void {
    this.#lostMeanwhile = undefined;
  }

  add(job: J, endpoint: string, { since, sinceWall }: ReturnType<typeof times>): HeldJob<J> {
    const held = { job, endpoint, since, sinceWall, waitsSince: since, begun: false, again: false, lost: false };
    this.#held.set(job.id, held);
    return held;
  }

  /**
   * A jump of the clock can end the lease of a job that is still here: it has been renewed by being leased. Or it was stored as
   * still to be done, before the attempt has heard of it: then it is attempted again.
   * @returns false where it is not here
   */
  leasedAgain(job: J, since: ReturnType<typeof times>): boolean {
    const known = this.#held.get(job.id);
    if (known !== undefined) Object.assign(known, { ...since, job, again: known.begun, lost: false });
    return known !== undefined;
  }

  delete(held: HeldJob<J>): void {
    this.#held.delete(held.job.id);
  }

  isLive({ since, sinceWall, lost }: HeldJob<J>): boolean {
    const life = this.source.leaseMs * (1 - LEASE_MARGIN);
    return !lost && performance.now() - since < life && Date.now() - sinceWall < life;
  }

  /** Those that fit are lost, and those that a claim is about to bring. @returns endpoints of those that are here */
  lose(fits: (held: HeldJob<J>) => boolean): string[] {
    this.#lostMeanwhile?.push(fits);
    return this.#lost(fits);
  }

  /** Those that were lost before they were here are lost now. @returns their endpoints */
  loseLate(): string[] {
    return (this.#lostMeanwhile ?? []).flatMap((fits) => this.#lost(fits));
  }

  #lost(fits: (held: HeldJob<J>) => boolean): string[] {
    const found = [...this.#held.values()].filter(fits);
    for (const held of found) held.lost = true;
    return found.map(({ endpoint }) => endpoint);
  }

  /**
   * Prolongs leases from now on.
   * @param besides given each renewal; it tells of its faults
   * @param withdraw told which of them are lost
   */
  keep(besides: (renewal: Promise<void>) => void, withdraw: (isLost: (held: HeldJob<J>) => boolean) => void): void {
    this.#renewing = setInterval(() => besides(this.#renew().then(withdraw)), this.renewMs);
    if (!this.source.keepsAlive) this.#renewing.unref();
  }

  /** Leaves leases to themselves: for what is still here nothing more is done. */
  leave(): void {
    clearInterval(this.#renewing);
    this.lose(() => true);
  }

  /** Of those that are not young. @returns which of them are lost */
  async #renew(): Promise<(held: HeldJob<J>) => boolean> {
    const now = times();
    const old = [...this.#held.values()].filter(({ since }) => now.since - since >= this.renewMs / 2);
    if (old.length === 0) return () => false;
    const asked = new Map(old.map((held) => [held, held.job]));
    const begun = new Set(old.filter((held) => held.begun).map(({ job }) => job.id));
    const ours = await this.source.renew([...asked.values()], begun);
    for (const held of old) if (ours.has(held.job.id)) Object.assign(held, now);
    // What was leased again meanwhile is ours by another token than the one that was asked for.
    return (held) => asked.get(held) === held.job && !ours.has(held.job.id);
  }
}
