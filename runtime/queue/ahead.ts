/**
 * Jobs that are leased and wait for their turn: the next attempt of an endpoint begins as soon as one before it has ended,
 * without a journey to the database between. Few begin at a time, so that quick endpoints answer on connections that are
 * open already.
 */
import type { HeldJob } from "./worker-options.js";

/** Attempts that may be younger than that, in milliseconds. Slow ones do not count, however many they are. */
const YOUNG_ATTEMPTS = 64;
const YOUNG_MS = 20;

interface Line {
  readonly waiting: HeldJob[];
  /** Attempts under way. */
  busy: number;
}

/** An attempt that has begun. */
export interface BegunAttempt {
  readonly endpoint: string;
  readonly at: number;
  young: boolean;
}

export interface AheadOptions {
  /** Most attempts at once. */
  readonly concurrency: number;
  /** How many attempts of an endpoint may be under way. */
  widthOf(endpoint: string): number;
  /** Begins an attempt; its end is told by `ended`. */
  begin(held: HeldJob, begun: BegunAttempt): void;
}

export class Ahead {
  readonly #lines = new Map<string, Line>();
  /** Endpoints that may have both a job and a slot, in turn. */
  readonly #turns = new Set<string>();
  /** By age; some have ended. */
  readonly #youngest: BegunAttempt[] = [];
  #young = 0;
  #waiting = 0;
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly options: AheadOptions) {}

  get waiting(): number {
    return this.#waiting;
  }

  get underWay(): number {
    return this.#underWay;
  }

  /** Attempts are begun as fast as they are answered: what comes now need not be looked for at once. */
  get busy(): boolean {
    return this.#young >= YOUNG_ATTEMPTS / 4;
  }

  add(held: HeldJob): void {
    const { endpoint } = held.job;
    this.#lineOf(endpoint).waiting.push(held);
    this.#waiting += 1;
    this.#turns.add(endpoint);
  }

  /** Begins what may begin. */
  begin(): void {
    this.#age();
    for (const endpoint of this.#turns) {
      if (this.#young >= YOUNG_ATTEMPTS || this.#underWay >= this.options.concurrency) break;
      // At the end of the turns again, where it has more: a set is walked in the order of its adding.
      this.#turns.delete(endpoint);
      const line = this.#lineOf(endpoint);
      // What is under way here begins the next when it ends.
      if (line.busy >= this.options.widthOf(endpoint)) continue;
      const held = line.waiting.shift();
      if (held === undefined) continue;
      this.#waiting -= 1;
      if (line.waiting.length > 0) this.#turns.add(endpoint);
      this.#start(line, held);
    }
    if (this.#turns.size > 0 && this.#young >= YOUNG_ATTEMPTS) this.#later();
  }

  ended(begun: BegunAttempt): void {
    const line = this.#lineOf(begun.endpoint);
    line.busy -= 1;
    this.#underWay -= 1;
    this.#grown(begun);
    if (line.waiting.length > 0) this.#turns.add(begun.endpoint);
    else if (line.busy === 0) this.#lines.delete(begun.endpoint);
    this.begin();
  }

  /** Takes out what waits, of one endpoint or of all. */
  drop(endpoint?: string): HeldJob[] {
    const lines = endpoint === undefined ? [...this.#lines.values()] : [this.#lines.get(endpoint)];
    const dropped = lines.flatMap((line) => line?.waiting.splice(0) ?? []);
    this.#waiting -= dropped.length;
    return dropped;
  }

  #start(line: Line, held: HeldJob): void {
    const begun = { endpoint: held.job.endpoint, at: performance.now(), young: true };
    line.busy += 1;
    this.#underWay += 1;
    this.#young += 1;
    this.#youngest.push(begun);
    this.options.begin(held, begun);
  }

  #lineOf(endpoint: string): Line {
    let line = this.#lines.get(endpoint);
    if (line === undefined) {
      line = { waiting: [], busy: 0 };
      this.#lines.set(endpoint, line);
    }
    return line;
  }

  #grown(begun: BegunAttempt): void {
    if (!begun.young) return;
    begun.young = false;
    this.#young -= 1;
  }

  #age(): void {
    const before = performance.now() - YOUNG_MS;
    let count = 0;
    for (const begun of this.#youngest) {
      if (begun.young && begun.at > before) break;
      this.#grown(begun);
      count += 1;
    }
    if (count > 0) this.#youngest.splice(0, count);
  }

  /** Nothing may end for a while: those under way grow older all the same. */
  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.begin();
    }, YOUNG_MS);
  }
}
