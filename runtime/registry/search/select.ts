/**
 * The next agents of a traversal. A traversal sees the ranking as it was when its first page was made: an agent that has
 * moved since keeps its old place, one that came since is not in it. Whether it matches, and what is shown of it, is as it
 * is now. So an agent that matches throughout comes exactly once, and no agent comes twice, whatever changes meanwhile.
 */
import { SEARCH_DIMENSIONS, type SearchFilters } from "../types.js";
import { type AgentIndex, compareKeys, type Key } from "./agent-index.js";
import { bitCount, hasBit, type Posting } from "./posting.js";
import { firstIndex } from "./sorted.js";

export interface Hit {
  readonly slot: number;
  /** Its place in the traversal. */
  readonly key: Key;
}

/** How a page is looked for: tests take less than there is in a test, so that each way is gone. */
export interface Effort {
  /** Up to so many agents of the rarest condition are looked up one by one, without a look at any other. */
  readonly few: number;
  /** Places of the ranking that are walked before anything is computed: enough for a page of what one in a hundred has. */
  readonly walkedFirst: number;
}
const EFFORT: Effort = { few: 4_096, walkedFirst: 4_096 };
/** Places that are walked for the price of looking up one agent: they lie in a row, its place lies anywhere. */
const WALKED_PER_LOOK_UP = 2;

/** One condition: the agents of any of these postings. */
interface Condition {
  readonly postings: readonly Posting[];
  readonly size: number;
}

/** Conditions of a search; undefined when one of them has no agent at all. */
function conditionsOf(index: AgentIndex, filters: SearchFilters, discovered: boolean): Condition[] | undefined {
  const conditions: Condition[] = [];
  const add = (postings: readonly Posting[]): void => {
    conditions.push({ postings, size: postings.reduce((sum, { size }) => sum + size, 0) });
  };
  SEARCH_DIMENSIONS.forEach((name, dimension) => {
    const values = new Set(filters[name]);
    if (values.size > 0) add([...values].flatMap((value) => index.posting(dimension, value) ?? []));
  });
  if (filters.has_tmp === true) add([index.withTmp]);
  if (!discovered && index.registered.size < index.size) add([index.registered]);
  if (conditions.some(({ size }) => size === 0)) return undefined;
  return conditions.sort((a, b) => a.size - b.size);
}

/** Reused between searches; a search never waits while it uses them. */
export class Scratch {
  #words: Uint32Array[] = [];

  /** An empty bitmap for so many slots. */
  take(level: number, capacity: number): Uint32Array {
    const length = (capacity + 31) >>> 5;
    let words = this.#words[level];
    if (words === undefined || words.length < length) {
      words = new Uint32Array(length * 2);
      this.#words[level] = words;
    }
    const part = words.subarray(0, length);
    part.fill(0);
    return part;
  }
}

/** A condition as bitmaps, of which one must have an agent: those there are, and one of all that are lists. */
function bitmapsOf({ postings }: Condition, level: number, index: AgentIndex, scratch: Scratch): Uint32Array[] {
  const bitmaps = postings.flatMap(({ bitmap }) => bitmap ?? []);
  if (bitmaps.length === postings.length) return bitmaps;
  const words = scratch.take(level, index.capacity);
  for (const posting of postings) if (posting.list !== undefined) posting.unionInto(words);
  return [...bitmaps, words];
}

/** Whether a slot meets all conditions. */
const meets = (conditions: readonly (readonly Uint32Array[])[], slot: number): boolean => {
  for (const bitmaps of conditions) {
    let found = false;
    for (let at = 0; at < bitmaps.length && !found; at++) found = hasBit(bitmaps[at]!, slot);
    if (!found) return false;
  }
  return true;
};

/** Slots that meet all conditions, as one bitmap, and how many they are. */
function intersected(
  index: AgentIndex,
  conditions: readonly (readonly Uint32Array[])[],
  scratch: Scratch,
): { readonly words: Uint32Array; readonly count: number } {
  const words = scratch.take(0, index.capacity);
  conditions.forEach((bitmaps, at) => {
    const only = bitmaps.length === 1 ? bitmaps[0]! : scratch.take(conditions.length + 1, index.capacity);
    if (bitmaps.length > 1)
      for (const one of bitmaps) for (let word = 0; word < one.length; word++) only[word]! |= one[word]!;
    if (at === 0) words.set(only.subarray(0, words.length));
    else for (let word = 0; word < words.length; word++) words[word]! &= word < only.length ? only[word]! : 0;
  });
  let count = 0;
  for (const word of words) count += bitCount(word);
  return { words, count };
}

/** The `limit` smallest of some places, in order. */
class Smallest {
  #held: Uint32Array;
  #count = 0;
  /** Places from here on are not wanted. */
  bound = 0xffffffff;

  constructor(readonly limit: number) {
    this.#held = new Uint32Array(limit * 8);
  }

  offer(place: number): void {
    if (place >= this.bound) return;
    this.#held[this.#count++] = place;
    if (this.#count === this.#held.length) this.#cut();
  }

  #cut(): void {
    this.#held.subarray(0, this.#count).sort();
    this.#count = Math.min(this.#count, this.limit);
    if (this.#count === this.limit) this.bound = this.#held[this.limit - 1]!;
  }

  get places(): Uint32Array {
    this.#cut();
    return this.#held.subarray(0, this.#count);
  }
}

export interface SelectRequest {
  readonly filters: SearchFilters;
  /** Clock at which the traversal began. */
  readonly seq: number;
  /** Where it stands; undefined: at its beginning. */
  readonly after: Key | undefined;
  readonly limit: number;
  /** Agents that no member registered count too. */
  readonly discovered: boolean;
}

/** The next agents, at most `limit`, in the order of the traversal. */
export function select(index: AgentIndex, request: SelectRequest, scratch: Scratch, effort = EFFORT): Hit[] {
  const { filters, seq, discovered } = request;
  const conditions = conditionsOf(index, filters, discovered);
  if (conditions === undefined) return [];
  // Nothing changed places since the traversal began: then the ranking of today is the traversal's.
  const pinned = index.lastMoved > seq ? seq : Infinity;
  const slots = slotsOf(index, conditions, { ...request, pinned, ...effort }, scratch);
  const hits = Array.from(slots, (slot) => ({ slot, key: index.keyOf(slot) }));
  if (pinned === Infinity) return hits;
  const returning = movedHits(index, request);
  if (returning.length === 0) return hits;
  return [...hits, ...returning].sort((a, b) => compareKeys(a.key, b.key)).slice(0, request.limit);
}

type Looking = SelectRequest & Effort & { readonly pinned: number };

/** Slots in the order of the ranking that meet the conditions and stand where they stood. */
function slotsOf(
  index: AgentIndex,
  conditions: readonly Condition[],
  { filters, after, limit, pinned, few: fewest, walkedFirst }: Looking,
  scratch: Scratch,
): readonly number[] {
  const atLeast = filters.min_properties ?? 0;
  const passes = (slot: number): boolean =>
    (atLeast === 0 || index.counts[slot]! >= atLeast) && (pinned === Infinity || index.moved[slot]! <= pinned);
  const start =
    after === undefined ? 0 : firstIndex(index.order, 0, (slot) => compareKeys(index.keyOf(slot), after) > 0);
  const [first, ...rest] = conditions;
  if (first === undefined) return walk(index, passes, { from: start, most: Infinity, limit, atLeast }).slots;
  const others = rest.map((condition, level) => bitmapsOf(condition, level + 1, index, scratch));
  if (first.size <= fewest && first.postings.every(({ list }) => list !== undefined)) {
    const few = new Set(first.postings.flatMap(({ list }) => list!));
    return lookedUp(
      index,
      (take) => {
        for (const slot of few) take(slot);
      },
      (slot) => meets(others, slot) && passes(slot),
      { from: start, limit },
    );
  }
  const all = [bitmapsOf(first, conditions.length, index, scratch), ...others];
  const wanted = (slot: number): boolean => meets(all, slot) && passes(slot);
  const begun = walk(index, wanted, { from: start, most: walkedFirst, limit, atLeast });
  if (begun.ended) return begun.slots;
  const { words, count } = intersected(index, all, scratch);
  const found = (slot: number): boolean => hasBit(words, slot) && passes(slot);
  const left = limit - begun.slots.length;
  // If they are spread evenly over the ranking, a page of them is met after so many places.
  const expected = (left * index.size) / count;
  const most = expected < count ? count * WALKED_PER_LOOK_UP : 0;
  const further = walk(index, found, { from: begun.next, most, limit: left, atLeast });
  const met = [...begun.slots, ...further.slots];
  if (further.ended) return met;
  return [
    ...met,
    ...lookedUp(index, (take) => eachBit(words, take), passes, { from: further.next, limit: limit - met.length }),
  ];
}

/** Hands on the slots of a bitmap. */
function eachBit(words: Uint32Array, take: (slot: number) => void): void {
  for (let at = 0; at < words.length; at++)
    for (let word = words[at]!; word !== 0; word &= word - 1) take(at * 32 + (31 - Math.clz32(word & -word)));
}

/** Of some slots those that pass, the first ones in the ranking from a place on. */
function lookedUp(
  index: AgentIndex,
  each: (take: (slot: number) => void) => void,
  passes: (slot: number) => boolean,
  { from, limit }: { readonly from: number; readonly limit: number },
): number[] {
  const smallest = new Smallest(limit);
  each((slot) => {
    const place = index.rank[slot]!;
    if (place >= from && place < smallest.bound && passes(slot)) smallest.offer(place);
  });
  return Array.from(smallest.places, (place) => index.order[place]!);
}

interface Walk {
  readonly from: number;
  /** Places looked at. */
  readonly most: number;
  readonly limit: number;
  readonly atLeast: number;
}

/** Walks the ranking from a place on. @returns what passed, where it stopped, and whether there is no more to be found or wanted */
function walk(
  index: AgentIndex,
  passes: (slot: number) => boolean,
  { from, most, limit, atLeast }: Walk,
): { readonly slots: number[]; readonly next: number; readonly ended: boolean } {
  const slots: number[] = [];
  // The score follows the number of properties: below this one nobody has enough of them.
  const floor = 0.1 * Math.log(atLeast + 1) - 1e-9;
  const end = Math.min(index.order.length, from + most);
  for (let place = from; place < end; place++) {
    const slot = index.order[place]!;
    if (atLeast > 0 && index.scores[slot]! < floor) return { slots, next: place, ended: true };
    if (passes(slot) && slots.push(slot) === limit) return { slots, next: place + 1, ended: true };
  }
  return { slots, next: end, ended: end === index.order.length };
}

/** Agents that moved since the traversal began and still match, at their old places. */
function movedHits(index: AgentIndex, request: SelectRequest): Hit[] {
  const { filters, discovered, seq, after } = request;
  const wanted = new Map<number, ReadonlySet<string>>();
  SEARCH_DIMENSIONS.forEach((name, dimension) => {
    const values = filters[name];
    if (values !== undefined && values.length > 0) wanted.set(dimension, new Set(values));
  });
  const hits: Hit[] = [];
  for (const { agent, before, born } of index.movedSince(seq)) {
    const slot = index.slotOf(agent);
    // It had come after the traversal began: it is not in it.
    if (slot === undefined || born > seq) continue;
    const key = { score: before, url: index.urls[slot]! };
    if (after !== undefined && compareKeys(key, after) <= 0) continue;
    const { propertyCount, hasTmp, registered } = index.read(slot);
    if (propertyCount < (filters.min_properties ?? 0) || (filters.has_tmp === true && !hasTmp)) continue;
    if ((registered || discovered) && index.hasValues(slot, wanted)) hits.push({ slot, key });
  }
  return hits;
}
