/**
 * Leases jobs where they are kept, has each wait its turn, runs many side by side, renews their leases and gives back what has
 * not begun. What a job is and what becomes of it is for who runs it: the queue's worker, the receiver's inbox.
 */
import { safely } from "../listener.js";
import { Ahead, type BegunAttempt, type HeldJob, type Leasable } from "./ahead.js";
import { Aside } from "./aside.js";
import { Ends } from "./ends.js";
import { HeldJobs, times } from "./held-jobs.js";
import type { JobLoopFault, JobLoopOptions } from "./job-loop-options.js";
import { Pauses, waitWithin } from "./pauses.js";

/** Jobs leased in one go; more would hold up the event loop. */
const CLAIM_LIMIT_JOBS = 256;

export class JobLoop<J extends Leasable> {
  readonly #options: JobLoopOptions<J>;
  readonly #held: HeldJobs<J>;
  readonly #turns: Ahead<J>;
  readonly #pauses: Pauses;
  #running = false;
  #idle = 0;
  /** When so few are left that have not been attempted, a look for more: the last one brought some, so there may be. */
  #lookAgainAt = -1;
  /** The last look threw: what it would have found is unknown. */
  #failed = false;
  /** There may be something that no look has come for. */
  #unclaimed = false;
  /** Something may fall due as others end. */
  #behind = false;
  /** What comes while every slot is taken may wait here; once that took too long, where it is kept, until that is empty. */
  #welcome = true;
  /** Slots of jobs that are about to be stored as leased, or are being claimed. */
  #reserved = 0;
  /** Attempts that have ended, and what became of their jobs is written down. */
  readonly #ends = new Ends();
  #loop: Promise<void> | undefined;
  #unsubscribe = (): void => undefined;
  readonly #aside = new Aside();

  constructor(options: JobLoopOptions<J>) {
    this.#options = options;
    this.#pauses = new Pauses(options.busyPauseMs, () => options.source.goesOn?.() === true);
    this.#held = new HeldJobs(options.source, options.renewMs);
    this.#turns = new Ahead({
      ...options.turns,
      widthOf: (endpoint) => options.sharing.widthOf(endpoint),
      begin: (held, begun) => this.#attempt(held, begun),
    });
  }

  /** How many jobs are leased here. */
  get out(): number {
    return this.#held.size;
  }

  /** Attempts that may end soon: where every slot is taken, only those that have just begun count. */
  get ending(): number {
    return this.#untaken > 0 ? this.#turns.underWay : this.#turns.young;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    const { source, starting } = this.#options;
    this.#unsubscribe = source.onWake(() => this.look());
    this.#held.keep(this.#besides.bind(this, "renew"), (isLost) => this.withdraw(isLost));
    this.#loop = (starting?.() ?? Promise.resolve()).then(() => this.#run());
  }

  /**
   * Leases nothing more, gives back what has not begun, and waits for what has.
   * @param withinMs longest wait, in milliseconds
   * @returns the jobs that were not waited for
   */
  async stop(withinMs?: number): Promise<readonly J[]> {
    this.#running = false;
    this.#pauses.wake();
    this.#pauses.hurry();
    this.giveBack();
    await waitWithin(this.#allEnded(), withinMs);
    this.#held.leave();
    this.#unsubscribe();
    return this.#held.jobs;
  }

  /**
   * There may be something to lease: looks before the next poll, and before the end of a pause for being busy that it is no longer.
   * @param behind there may be something behind jobs that are leased: looks again as they end
   */
  look(behind = false): void {
    this.#unclaimed = true;
    this.#behind ||= behind;
    this.#idle = 0;
    this.#pauses.wake();
    if (!this.#turns.busy) this.#pauses.hurry();
  }

  /**
   * A place for a job that is about to be stored as leased: it then need not be looked for. Give it to `admit` or `cancel`.
   * @returns false where it is to be stored for whoever comes first
   */
  reserve(): boolean {
    const { turns, atHand } = this.#options;
    const few = this.#held.size + this.#reserved < turns.concurrency + atHand.jobs;
    const room = this.#welcome && !this.#unclaimed && few && this.#turns.weight < atHand.weight;
    if (!this.#running || !(this.#free > 0 || room)) {
      this.#unclaimed = true;
      return false;
    }
    this.#reserved += 1;
    return true;
  }

  /** Resolves when the look that is under way has ended: what it leases is known here then. */
  lookEnded(): Promise<void> {
    return this.#pauses.lookEnded();
  }

  /** Gives up places. */
  cancel(places = 1): void {
    this.#reserved -= places;
  }

  /** Runs a job that was stored as leased, in its turn. */
  admit(job: J): void {
    this.#reserved -= 1;
    this.#add([job], times());
  }

  /** Gives back what has not begun, of one endpoint or of all. */
  giveBack(endpoint?: string): void {
    this.#drop(this.#turns.drop(endpoint));
  }

  /** Those that fit are not to be begun any more: what waits is given back, what has begun sends nothing if it has not yet. */
  withdraw(fits: (held: HeldJob<J>) => boolean): void {
    this.#drop(this.#turns.dropLost(this.#held.lose(fits)));
  }

  /** Resolves when nothing is held and nothing is due, or when the loop has been stopped. */
  async idle(): Promise<void> {
    while (this.#running) {
      const before = this.#ends.count;
      this.look();
      await this.#pauses.looked();
      const busy = this.#held.size + this.#reserved > 0 || this.#unclaimed || this.#pauses.goesOn();
      if (!busy && this.#ends.count === before) return;
      await this.#ends.soon();
    }
  }

  #fault(doing: JobLoopFault<J>["doing"], error: unknown, jobs: readonly J[] = []): void {
    safely(() => this.#options.onFault({ doing, error, jobs }));
  }

  #besides(doing: JobLoopFault<J>["doing"], work: Promise<void>, jobs: readonly J[] = []): void {
    this.#aside.add(work, (error) => this.#fault(doing, error, jobs));
  }

  async #allEnded(): Promise<void> {
    await this.#loop;
    await this.#options.stopping?.();
    while (this.#held.size > 0) await this.#ends.next();
    await this.#aside.ended();
  }

  async #run(): Promise<void> {
    while (this.#running) {
      const ended = this.#pauses.begin();
      const claimed = await this.#look();
      ended();
      // Having got something, or seen a part, look again: there may be more. While busy, not for each that ends: a look for many is no dearer.
      if (this.#turns.busy) await this.#pauses.pause();
      else if (claimed === 0) await this.#rest();
      else await this.#pauses.breathe(claimed);
    }
    this.#pauses.begin()();
  }

  #rest(): Promise<void> {
    const { source } = this.#options;
    const nothing = this.#held.size === 0;
    const ms = source.restMs(this.#idle, nothing && !this.#failed);
    if (nothing) this.#idle += 1;
    return this.#pauses.rest(ms, source.keepsAlive);
  }

  async #look(): Promise<number> {
    try {
      await this.#options.looking?.();
      const overdue = this.#turns.overdue(this.#options.waitMs);
      if (overdue.length > 0) this.#welcome = false;
      this.#drop(overdue);
      const claimed = await this.#claim();
      this.#failed = false;
      return claimed;
    } catch (error) {
      [this.#failed, this.#unclaimed] = [true, true];
      this.#fault("look", error);
      return 0;
    }
  }

  /** Slots that nothing takes, and that nothing is about to take. */
  get #free(): number {
    return Math.min(this.#options.turns.concurrency - this.#turns.underWay, this.#untaken) - this.#reserved;
  }

  /** Slots but for those of attempts under way, and of jobs whose end is being written down. */
  get #untaken(): number {
    const { turns, finishing } = this.#options;
    return turns.concurrency + finishing - (this.#held.size - this.#turns.waiting);
  }

  async #claim(): Promise<number> {
    const { sharing, now } = this.#options;
    const [free, bytes] = [this.#free, this.#turns.room];
    this.#unclaimed = free <= 0;
    if (this.#unclaimed) return 0;
    const ahead = this.#turns.full ? 0 : this.#options.ahead - this.#turns.waiting;
    const limit = Math.min(free + Math.max(0, ahead), CLAIM_LIMIT_JOBS);
    const [at, ends, since] = [now(), this.#ends.count, times()];
    // What is stored meanwhile finds these slots taken.
    this.#reserved += free;
    const plan = sharing.plan.bind(sharing, free, at, ahead);
    const request = { now: at, limit, bytes, room: plan(), likely: plan() };
    const jobs = await this.#held.claim(request).finally(() => this.cancel(free));
    // What attempts need can then be looked up for all of them, before the first begins.
    if (jobs.length > 0) safely(() => this.#options.onLeased?.(jobs));
    this.#add(jobs, since);
    this.#held.claimEnded();
    // With some leased ahead no slot is empty while more are looked for.
    this.#lookAgainAt = jobs.length > 0 && this.#options.ahead > 0 ? this.#turns.few(this.#options.claimsEarly) : -1;
    if (jobs.length > 0 || this.#pauses.goesOn()) return jobs.length || 1;
    this.#welcome = true;
    if (this.#held.size === 0 && this.#ends.count === ends) this.#behind = false;
    return 0;
  }

  /** Has jobs that are leased wait for their turn; some may be here already. Who stops gives them back. */
  #add(jobs: readonly J[], since: ReturnType<typeof times>): void {
    for (const job of jobs) {
      if (!this.#held.leasedAgain(job, since))
        this.#enter(this.#held.add(job, this.#options.sharing.endpointOf(job), since));
    }
    this.#drop(this.#turns.dropLost(this.#held.loseLate()));
    if (this.#running) this.#turns.begin();
    else this.giveBack();
  }

  #enter(held: HeldJob<J>): void {
    this.#options.sharing.started(held.endpoint, this.#options.now());
    this.#turns.add(held);
  }

  #attempt(held: HeldJob<J>, begun: BegunAttempt): void {
    held.begun = true;
    let here = true;
    const free = (): void => {
      if (!here) return;
      here = false;
      this.#turns.ended(begun);
      if (this.#turns.unattempted > this.#lookAgainAt) return;
      this.#lookAgainAt = -1;
      this.look();
      this.#pauses.hurry();
    };
    const over = (left: "gone" | "kept"): void => {
      held.again &&= left === "kept";
      free();
      this.#over(held);
    };
    const failed = (error: unknown): void => {
      this.#fault("attempt", error, [held.job]);
      over("kept");
    };
    this.#options.attempt(held, { live: () => this.#held.isLive(held), free }).then(over, failed);
  }

  #over(held: HeldJob<J>): void {
    if (held.again && this.#running) {
      Object.assign(held, { begun: false, again: false, waitsSince: performance.now() });
      this.#enter(held);
      this.#turns.begin();
    } else this.#held.delete(held);
    if (this.#unclaimed || this.#behind) this.look();
    this.#ends.add();
  }

  #drop(waiting: readonly HeldJob<J>[]): void {
    if (waiting.length === 0) return;
    for (const held of waiting) {
      this.#options.sharing.returned(held.endpoint);
      this.#held.delete(held);
    }
    const jobs = waiting.map(({ job }) => job);
    this.#besides("give back", this.#options.source.release(jobs), jobs);
  }
}
