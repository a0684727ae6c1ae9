/**
 * Jobs that are leased and wait for their turn: the next attempt of an endpoint begins as soon as one before it has ended,
 * without a journey to the database between. Few begin at a time, so that quick endpoints answer on connections that are
 * open already.
 */

/** A job of any kind, by its number where it is kept. */
export interface Leasable {
  readonly id: number;
}

/** A job here, until its lease is over. Times are of the process's own clock unless they say otherwise. */
export interface HeldJob<J extends Leasable> {
  job: J;
  readonly endpoint: string;
  /** When its lease was last asked for, by the process's own clock and by the system's: one of them may stand still. */
  since: number;
  sinceWall: number;
  /** Since when it waits for its turn. */
  waitsSince: number;
  /** Its attempt has begun. */
  begun: boolean;
  /** It was leased again while its attempt ended. */
  again: boolean;
  /** It is not ours any more, or an operator has taken it back: nothing of it is begun. */
  lost: boolean;
}

/** Attempts that may be younger than that, in milliseconds, by default. Slow ones do not count, however many they are. */
const YOUNG_ATTEMPTS = 64;
const YOUNG_MS = 20;
/**
 * How long the process must have waited for something to do since one began, in milliseconds, before it is slow: in one that is busy all
 * the time answers lie unread, and more under way are only more connections. After as many as these it is slow all the same.
 */
const YOUNG_IDLE_MS = 2;
const YOUNG_MOST_MS = 250;

const idleMs = (): number => performance.eventLoopUtilization().idle;

/** What waits may weigh, and what is leased at a time, in bytes: bodies of a megabyte are as many as fit. */
const WAITING_BYTES = 32 * 1_048_576;
/** Of that there is always room for so much, for what need not wait. */
const LEAST_BYTES = WAITING_BYTES / 4;

interface Line<J extends Leasable> {
  readonly waiting: HeldJob<J>[];
  /** Attempts under way. */
  busy: number;
}

/** An attempt that has begun. */
export interface BegunAttempt {
  readonly endpoint: string;
  readonly at: number;
  /** How long the process had waited by then, in milliseconds. */
  readonly idleAt: number;
  young: boolean;
}

export interface AheadOptions<J extends Leasable> {
  /** Most attempts at once. */
  readonly concurrency: number;
  /** How many attempts of an endpoint may be under way. */
  widthOf(endpoint: string): number;
  /** Begins an attempt; its end is told by `ended`. */
  begin(held: HeldJob<J>, begun: BegunAttempt): void;
  /** Most attempts that may be young at a time; 64 by default. */
  readonly atOnce?: number;
  /** What a job that waits weighs, in bytes; nothing by default. */
  readonly weightOf?: (job: J) => number;
}

export class Ahead<J extends Leasable> {
  readonly #lines = new Map<string, Line<J>>();
  /** Endpoints that may have both a job and a slot, in turn. */
  readonly #turns = new Set<string>();
  /** By age; some have ended. */
  readonly #youngest: BegunAttempt[] = [];
  #young = 0;
  #waiting = 0;
  #weight = 0;
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;

  readonly #atOnce: number;

  constructor(readonly options: AheadOptions<J>) {
    this.#atOnce = options.atOnce ?? YOUNG_ATTEMPTS;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Of what waits. */
  get weight(): number {
    return this.#weight;
  }

  /** What may be leased, in bytes. */
  get room(): number {
    return Math.max(LEAST_BYTES, WAITING_BYTES - this.#weight);
  }

  /**
   * As much waits as may: what is leased now has to begin at once. What waits is of those who are slow, and would hold up all others by
   * how large it is.
   */
  get full(): boolean {
    return WAITING_BYTES - this.#weight < LEAST_BYTES;
  }

  get underWay(): number {
    return this.#underWay;
  }

  /** Jobs here whose attempts have not ended. */
  get unattempted(): number {
    return this.#waiting + this.#underWay;
  }

  /**
   * Of those, so few that there should be more.
   * @param early a quarter of what waits has begun, rather than only a quarter of all is left; half of all where hardly anything
   * waits
   */
  few(early = false): number {
    const { unattempted } = this;
    // With few slots little is leased at a time, and a look for less is as dear; of what is under way some may hang.
    if (this.#waiting < this.#atOnce) return Math.floor(unattempted / 2);
    return early ? unattempted - Math.ceil(this.#waiting / 4) : Math.floor(unattempted / 4);
  }

  /** Attempts under way that began a moment ago, and will end soon if their endpoints are well. */
  get young(): number {
    this.#age();
    return this.#young;
  }

  /** Attempts are begun as fast as they are answered: what comes now need not be looked for at once. */
  get busy(): boolean {
    return this.young >= this.#atOnce / 4;
  }

  add(held: HeldJob<J>): void {
    const { endpoint } = held;
    this.#lineOf(endpoint).waiting.push(held);
    this.#waiting += 1;
    if (this.options.weightOf) this.#weight += this.options.weightOf(held.job);
    this.#turns.add(endpoint);
  }

  /** Begins what may begin. */
  begin(): void {
    this.#age();
    for (const endpoint of this.#turns) {
      if (this.#young >= this.#atOnce || this.#underWay >= this.options.concurrency) break;
      // At the end of the turns again, where it has more: a set is walked in the order of its adding.
      this.#turns.delete(endpoint);
      const line = this.#lines.get(endpoint);
      // What is under way here begins the next when it ends.
      if (line === undefined || line.busy >= this.options.widthOf(endpoint)) continue;
      const held = line.waiting.shift();
      if (held === undefined) continue;
      this.#waiting -= 1;
      if (this.options.weightOf) this.#weight -= this.options.weightOf(held.job);
      if (line.waiting.length > 0) this.#turns.add(endpoint);
      this.#start(line, held);
    }
    if (this.#turns.size > 0 && this.#young >= this.#atOnce) this.#later();
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
  drop(endpoint?: string): HeldJob<J>[] {
    return this.#dropOf(endpoint === undefined ? this.#lines.keys() : [endpoint]);
  }

  /** Takes out what waits and is lost. @param endpoints where something is */
  dropLost(endpoints: Iterable<string>): HeldJob<J>[] {
    return this.#dropOf(new Set(endpoints), ({ lost }) => lost);
  }

  /** Takes out what waits where the first has waited for so many milliseconds. */
  overdue(ms: number): HeldJob<J>[] {
    if (this.#waiting === 0 || ms === Number.POSITIVE_INFINITY) return [];
    const before = performance.now() - ms;
    const isOverdue = ([, { waiting }]: [string, Line<J>]): boolean =>
      waiting[0] !== undefined && waiting[0].waitsSince <= before;
    return this.#dropOf([...this.#lines].filter(isOverdue).map(([endpoint]) => endpoint));
  }

  #dropOf(endpoints: Iterable<string>, goes: (held: HeldJob<J>) => boolean = () => true): HeldJob<J>[] {
    const dropped = [...endpoints].flatMap((endpoint) => {
      const line = this.#lines.get(endpoint);
      const all = line?.waiting.splice(0) ?? [];
      line?.waiting.push(...all.filter((held) => !goes(held)));
      if (line?.busy === 0 && line.waiting.length === 0) this.#lines.delete(endpoint);
      return all.filter(goes);
    });
    this.#waiting -= dropped.length;
    for (const { job } of dropped) this.#weight -= this.options.weightOf?.(job) ?? 0;
    return dropped;
  }

  #start(line: Line<J>, held: HeldJob<J>): void {
    const begun = { endpoint: held.endpoint, at: performance.now(), idleAt: idleMs(), young: true };
    line.busy += 1;
    this.#underWay += 1;
    this.#young += 1;
    this.#youngest.push(begun);
    this.options.begin(held, begun);
  }

  #lineOf(endpoint: string): Line<J> {
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
    const [now, idle] = [performance.now(), idleMs()];
    const isSlow = ({ at, idleAt }: BegunAttempt): boolean =>
      now - at >= YOUNG_MOST_MS || (now - at >= YOUNG_MS && idle - idleAt >= YOUNG_IDLE_MS);
    let count = 0;
    for (const begun of this.#youngest) {
      if (begun.young && !isSlow(begun)) break;
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
