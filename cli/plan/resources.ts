/** What work waits for: cores, processes of one thread, lines; and the chance that decides when it comes. */

import { Moments } from "./heap.js";

/** Numbers from 0 to 1, the same for one seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Cores that work off what comes, first come first served. */
export class Cores {
  readonly #free: Float64Array;

  constructor(count: number) {
    this.#free = new Float64Array(count);
  }

  /** @returns when work that comes at `at` is done, both in milliseconds */
  done(at: number, costMs: number): number {
    const core = this.#soonest();
    const end = Math.max(at, this.#free[core]!) + costMs;
    this.#free[core] = end;
    return end;
  }

  #soonest(): number {
    let best = 0;
    for (let at = 1; at < this.#free.length; at += 1) if (this.#free[at]! < this.#free[best]!) best = at;
    return best;
  }
}

/**
 * Cores of one machine, shared by everything on it as a scheduler shares them: what is under way goes on side by side, each at
 * the same pace, and none faster than a core.
 */
export class SharedCores {
  readonly #cores: number;
  /** By the work that each will have been given when it is done. */
  readonly #running = new Moments();
  /** Milliseconds of work that each has been given, of those that were there from the start. */
  #given = 0;
  #at = 0;

  constructor(cores: number) {
    this.#cores = cores;
  }

  /** When the next one is done, in milliseconds; infinity when nothing is under way. */
  get next(): number {
    if (this.#running.size === 0) return Number.POSITIVE_INFINITY;
    return this.#at + Math.max(0, this.#running.next - this.#given) / this.#pace();
  }

  /** @param at milliseconds, not before what was last added or taken */
  add(at: number, costMs: number, what: number, who: number): void {
    this.#goOn(at);
    this.#running.add(this.#given + costMs, what, who);
  }

  /** Takes the next one that is done; there must be one. */
  take(): { at: number; what: number; who: number } {
    const at = this.next;
    this.#goOn(at);
    const { what, who } = this.#running.take();
    return { at, what, who };
  }

  #pace(): number {
    return Math.min(1, this.#cores / this.#running.size);
  }

  #goOn(at: number): void {
    if (this.#running.size > 0) this.#given += (at - this.#at) * this.#pace();
    this.#at = at;
  }
}

/** First in, first out, in one array. */
export class Line {
  #items: number[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  add(item: number): void {
    this.#items.push(item);
  }

  take(): number | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head += 1;
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

/** A process of one thread: what it has to do waits in a line. */
export class DelivererProcess {
  readonly line = new Line();
  /** Events it has leased and not acknowledged, and probes of endpoints that fail. */
  out = 0;
  probes = 0;
  /** What it works on; undefined while it is idle. */
  working: number | undefined;
  waiting = 0;
  /** Whether it asks the database for events, or is about to; and those that the answer will bring. */
  asks = false;
  willAsk = false;
  /** It had no slot left when it asked last: what ends makes it ask again. */
  full = false;
  leased: number[] = [];
  busyMs = 0;

  constructor(readonly number: number) {}
}
