/**
 * All profiles of one instance in memory, about 250 bytes each: columns by slot, values as numbers, and the order of the
 * ranking. Rows of the database are applied to it as they change.
 */
import { byCodePoint } from "../model.js";
import { SEARCH_DIMENSIONS } from "../types.js";
import { Posting } from "./posting.js";
import { firstIndex, without } from "./sorted.js";
import { grown, ValuePool } from "./value-pool.js";

/** A profile as the index takes it. */
export interface IndexedProfile {
  readonly agent: number;
  readonly url: string;
  readonly registered: boolean;
  readonly score: number;
  readonly propertyCount: number;
  readonly publisherCount: number;
  readonly hasTmp: boolean;
  readonly taxonomy: string | null;
  /** One list per dimension, in the order of `SEARCH_DIMENSIONS`. */
  readonly lists: readonly (readonly string[])[];
  readonly updatedAt: number;
  readonly born: number;
}

export interface Move {
  readonly version: number;
  readonly agent: number;
  /** Score before the change. */
  readonly before: number;
  /** Clock at which the agent had come, or come back. */
  readonly born: number;
}

/** Place in the ranking: better scores first, then URLs in order. */
export interface Key {
  readonly score: number;
  readonly url: string;
}

/** Negative when `a` comes first. */
export const compareKeys = (a: Key, b: Key): number => b.score - a.score || byCodePoint(a.url, b.url);

const START_SLOTS = 1024;
const ALIVE = 1;
const REGISTERED = 2;
const WITH_TMP = 4;

export class AgentIndex {
  readonly #slots = new Map<number, number>();
  readonly urls: string[] = [];
  scores = new Float64Array(START_SLOTS);
  counts = new Uint32Array(START_SLOTS);
  #publishers = new Uint32Array(START_SLOTS);
  #updated = new Float64Array(START_SLOTS);
  born = new Float64Array(START_SLOTS);
  /** Clock at which the place of a slot last changed. */
  moved = new Float64Array(START_SLOTS);
  #taxonomy = new Uint32Array(START_SLOTS);
  /** What a slot is, as bits. */
  #marks = new Uint8Array(START_SLOTS);
  readonly #values = new ValuePool();
  readonly #taxonomies: (string | null)[] = [null];
  readonly #valueIds = SEARCH_DIMENSIONS.map(() => new Map<string, number>());
  readonly #valueTexts: string[] = [];
  readonly #valueDimensions: number[] = [];
  readonly #postings: Posting[] = [];
  readonly registered = new Posting();
  readonly withTmp = new Posting();
  /** Slots in the order of the ranking, and each slot's place in it. */
  order = new Uint32Array(0);
  rank = new Uint32Array(START_SLOTS);
  /** Latest clock at which any place changed. */
  lastMoved = 0;
  #moves: Move[] = [];

  /** Profiles there are. */
  get size(): number {
    return this.order.length;
  }

  /** Slots there are, the empty ones too. */
  get capacity(): number {
    return this.urls.length;
  }

  slotOf(agent: number): number | undefined {
    const slot = this.#slots.get(agent);
    return slot !== undefined && this.#marks[slot] !== 0 ? slot : undefined;
  }

  posting(dimension: number, value: string): Posting | undefined {
    const id = this.#valueIds[dimension]!.get(value);
    return id === undefined ? undefined : this.#postings[id];
  }

  /** Values of a dimension with who has them; some may have nobody any more. */
  *valuesOf(dimension: number): Generator<[value: string, posting: Posting]> {
    for (const [value, id] of this.#valueIds[dimension]!) yield [value, this.#postings[id]!];
  }

  keyOf(slot: number): Key {
    return { score: this.scores[slot]!, url: this.urls[slot]! };
  }

  /** Applies profiles that changed, and agents that have none any more. */
  apply(changed: readonly IndexedProfile[], gone: readonly number[]): void {
    const placed: number[] = [];
    const removed = new Set<number>();
    for (const agent of gone) {
      const slot = this.slotOf(agent);
      if (slot === undefined) continue;
      this.#clear(slot);
      this.#marks[slot] = 0;
      removed.add(slot);
    }
    for (const profile of changed) {
      const known = this.slotOf(profile.agent);
      const slot = known ?? this.#slots.get(profile.agent) ?? this.#newSlot(profile);
      const stays = known !== undefined && this.scores[slot] === profile.score;
      if (known !== undefined) this.#clear(slot);
      this.#fill(slot, profile);
      if (stays) continue;
      if (known !== undefined) removed.add(slot);
      placed.push(slot);
    }
    if (placed.length > 0 || removed.size > 0) this.#reorder(placed, removed);
  }

  /** Takes profiles into an index that is being made; they have no order until `sort`. */
  load(profiles: readonly IndexedProfile[]): void {
    for (const profile of profiles) this.#fill(this.#newSlot(profile), profile);
  }

  /** Puts what was loaded in order. */
  sort(): void {
    this.#reorder(
      Array.from({ length: this.capacity }, (_, slot) => slot),
      new Set(),
    );
  }

  /** Adds moves, in the order of their clocks; some may be from before others that came to be seen sooner. */
  addMoves(moves: readonly Move[]): void {
    const late = moves.length > 0 && moves[0]!.version < (this.#moves.at(-1)?.version ?? 0);
    for (const move of moves) this.#moves.push(move);
    if (late) this.#moves.sort((a, b) => a.version - b.version || a.agent - b.agent);
    for (const move of moves) {
      const slot = this.#slots.get(move.agent);
      if (slot !== undefined) this.moved[slot] = Math.max(this.moved[slot]!, move.version);
      this.lastMoved = Math.max(this.lastMoved, move.version);
    }
  }

  /** Forgets moves up to a clock. */
  forgetMoves(through: number): void {
    if (this.#moves.length === 0 || this.#moves[0]!.version > through) return;
    this.#moves = this.#moves.filter(({ version }) => version > through);
  }

  /** Of each agent that moved after a clock, its first move since. */
  *movedSince(seq: number): Generator<Move> {
    const seen = new Set<number>();
    let low = 0;
    let high = this.#moves.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#moves[middle]!.version > seq) high = middle;
      else low = middle + 1;
    }
    for (let at = low; at < this.#moves.length; at++) {
      const move = this.#moves[at]!;
      if (seen.has(move.agent)) continue;
      seen.add(move.agent);
      yield move;
    }
  }

  /** Whether a slot has one of the values, in each of the dimensions given. */
  hasValues(slot: number, wanted: ReadonlyMap<number, ReadonlySet<string>>): boolean {
    const found = new Set<number>();
    for (const id of this.#values.get(slot)) {
      const dimension = this.#valueDimensions[id]!;
      if (wanted.get(dimension)?.has(this.#valueTexts[id]!)) found.add(dimension);
    }
    return found.size === wanted.size;
  }

  read(slot: number): Omit<IndexedProfile, "agent"> {
    const lists: string[][] = SEARCH_DIMENSIONS.map(() => []);
    for (const id of this.#values.get(slot)) lists[this.#valueDimensions[id]!]!.push(this.#valueTexts[id]!);
    return {
      url: this.urls[slot]!,
      registered: (this.#marks[slot]! & REGISTERED) !== 0,
      hasTmp: (this.#marks[slot]! & WITH_TMP) !== 0,
      score: this.scores[slot]!,
      propertyCount: this.counts[slot]!,
      publisherCount: this.#publishers[slot]!,
      taxonomy: this.#taxonomies[this.#taxonomy[slot]!]!,
      lists,
      updatedAt: this.#updated[slot]!,
      born: this.born[slot]!,
    };
  }

  #newSlot({ agent, url }: IndexedProfile): number {
    const slot = this.urls.length;
    this.urls.push(url);
    this.#slots.set(agent, slot);
    if (slot >= this.scores.length) {
      const length = slot * 2;
      this.scores = grown(this.scores, length);
      this.counts = grown(this.counts, length);
      this.#publishers = grown(this.#publishers, length);
      this.#updated = grown(this.#updated, length);
      this.born = grown(this.born, length);
      this.moved = grown(this.moved, length);
      this.#taxonomy = grown(this.#taxonomy, length);
      this.#marks = grown(this.#marks, length);
      this.rank = grown(this.rank, length);
    }
    return slot;
  }

  #fill(slot: number, profile: IndexedProfile): void {
    this.scores[slot] = profile.score;
    this.counts[slot] = profile.propertyCount;
    this.#publishers[slot] = profile.publisherCount;
    this.#updated[slot] = profile.updatedAt;
    this.born[slot] = profile.born;
    this.moved[slot] = Math.max(this.moved[slot]!, profile.born);
    this.lastMoved = Math.max(this.lastMoved, profile.born);
    this.#taxonomy[slot] = this.#taxonomyId(profile.taxonomy);
    const all = profile.lists.flatMap((list, dimension) => list.map((value) => this.#valueId(dimension, value)));
    const ids = [...new Set(all)];
    this.#values.set(slot, ids);
    for (const id of ids) this.#postings[id]!.add(slot, this.scores.length);
    if (profile.registered) this.registered.add(slot, this.scores.length);
    if (profile.hasTmp) this.withTmp.add(slot, this.scores.length);
    this.#marks[slot] = ALIVE | (profile.registered ? REGISTERED : 0) | (profile.hasTmp ? WITH_TMP : 0);
  }

  /** Takes a slot out of all postings. */
  #clear(slot: number): void {
    for (const id of this.#values.get(slot)) this.#postings[id]!.delete(slot);
    const marks = this.#marks[slot]!;
    if (marks & REGISTERED) this.registered.delete(slot);
    if (marks & WITH_TMP) this.withTmp.delete(slot);
  }

  #taxonomyId(text: string | null): number {
    const known = this.#taxonomies.indexOf(text);
    return known === -1 ? this.#taxonomies.push(text) - 1 : known;
  }

  #valueId(dimension: number, value: string): number {
    const ids = this.#valueIds[dimension]!;
    let id = ids.get(value);
    if (id === undefined) {
      id = this.#valueTexts.push(value) - 1;
      ids.set(value, id);
      this.#valueDimensions.push(dimension);
      this.#postings.push(new Posting());
    }
    return id;
  }

  /**
   * Takes slots out of the order and puts others into it: stretches between are copied as they are, and places are
   * written anew only where they changed.
   */
  #reorder(placed: readonly number[], removed: ReadonlySet<number>): void {
    const { scores, urls, rank } = this;
    const before = (a: number, b: number): number => scores[b]! - scores[a]! || byCodePoint(urls[a]!, urls[b]!);
    const freed = Uint32Array.from(removed, (slot) => rank[slot]!).sort();
    const stays = without(this.order, freed);
    const fresh = Uint32Array.from(placed).sort(before);
    const next = new Uint32Array(stays.length + fresh.length);
    let [first, last] = [freed[0] ?? next.length, freed.at(-1) ?? 0];
    let from = 0;
    let at = 0;
    for (const slot of fresh) {
      const until = firstIndex(stays, from, (other) => before(other, slot) > 0);
      next.set(stays.subarray(from, until), at);
      at += until - from;
      from = until;
      first = Math.min(first, at);
      last = Math.max(last, at);
      next[at++] = slot;
    }
    next.set(stays.subarray(from), at);
    const end = next.length === this.order.length ? Math.min(last + 1, next.length) : next.length;
    this.order = next;
    for (let place = first; place < end; place++) rank[next[place]!] = place;
  }
}
