/** Work in pieces: a file may have a hundred thousand properties, and who asks for them is not the only one who waits. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { AdbindError } from "../errors.js";

/** Work that yields wherever others may have a turn. */
export type Steps<T> = Generator<void, T, void>;

/** Items of some work from one yield to the next. */
const PIECE_ITEMS = 500;
/** Work from one turn of others to the next, in milliseconds. */
const WORKED_MS = 10;

/** Runs work to its end, and lets others have a turn after every few milliseconds of it. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  let since = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - since < WORKED_MS) continue;
    await nextTurn();
    since = performance.now();
  }
}

/** Runs work that is short to its end. */
export function untilDone<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** @param weight how much is done with an item: so many times the usual */
export function* inPieces<Item>(
  items: readonly Item[],
  work: (item: Item, at: number) => void,
  weight = 1,
): Steps<void> {
  const piece = Math.max(1, Math.floor(PIECE_ITEMS / Math.max(1, weight)));
  for (let at = 0; at < items.length; at++) {
    if (at > 0 && at % piece === 0) yield;
    work(items[at]!, at);
  }
}

export function* mapped<Item, Made>(items: readonly Item[], make: (item: Item, at: number) => Made): Steps<Made[]> {
  const made: Made[] = [];
  yield* inPieces(items, (item, at) => void made.push(make(item, at)));
  return made;
}

/** The items in their order; the same ones stay in theirs. */
export function* sorted<Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): Steps<Item[]> {
  let runs: Item[][] = [];
  for (let at = 0; at < items.length; at += PIECE_ITEMS) {
    runs.push(items.slice(at, at + PIECE_ITEMS).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const next: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [one, other] = [runs[at]!, runs[at + 1]];
      next.push(other === undefined ? one : yield* merged(one, other, compare));
    }
    runs = next;
  }
  return runs[0] ?? [];
}

function* merged<Item>(
  one: readonly Item[],
  other: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<Item[]> {
  const both: Item[] = [];
  let [a, b] = [0, 0];
  while (a < one.length && b < other.length) {
    both.push(compare(other[b]!, one[a]!) < 0 ? other[b++]! : one[a++]!);
    if (both.length % PIECE_ITEMS === 0) yield;
  }
  while (a < one.length) both.push(one[a++]!);
  while (b < other.length) both.push(other[b++]!);
  return both;
}

/** Most that wait for their turn: what was read for them waits in memory, and beyond some seconds their callers have gone. */
const WAITING_LIMIT = 16;

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: AdbindError) => void;
}

/** Large work, of which but some is done at once: what is under way is held in memory, and work that takes turns is all under way. */
export class LargeWork {
  /** By who asks, in the order in which they have their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  #free: number;

  /** @param most done at once */
  constructor(most: number) {
    this.#free = most;
  }

  /**
   * Does some when it is its turn: those who ask have theirs one after the other, however much each wants done.
   * @param by who asks; "" is somebody too
   * @throws AdbindError `registry_busy` when too many wait already, or too much of the same caller's where others come; else what the
   * work throws
   */
  async run<T>(by: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(by);
    try {
      return await work();
    } finally {
      const next = this.#next();
      if (next === undefined) this.#free += 1;
      else next.begin();
    }
  }

  #turn(by: string): Promise<void> {
    const own = this.#waiting.get(by) ?? [];
    const waiting = [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
    if (waiting >= WAITING_LIMIT) this.#makeRoom(own.length);
    return new Promise<void>((begin, refuse) => {
      own.push({ begin, refuse });
      this.#waiting.set(by, own);
    });
  }

  /** Whoever has most in the line gives up what came last, for one who would have less: else one caller could keep out all others. */
  #makeRoom(own: number): void {
    const most = [...this.#waiting.values()].reduce((a, b) => (b.length > a.length ? b : a));
    if (most.length <= own + 1) throw busy();
    most.pop()!.refuse(busy());
  }

  #next(): Waiting | undefined {
    for (const [by, own] of this.#waiting) {
      const next = own.shift();
      this.#waiting.delete(by);
      if (own.length > 0) this.#waiting.set(by, own);
      return next;
    }
    return undefined;
  }
}

const busy = (): AdbindError =>
  new AdbindError("registry_busy", "too many large expansions wait already", {
    remedy: "ask again in some seconds, for fewer at a time",
  });
