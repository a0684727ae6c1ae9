/**
 * The next agents of a traversal. A traversal sees the ranking as it was when its first page was made: an agent that has
 * moved since keeps its old place, one that came since is not in it. Whether it matches, and what is shown of it, is as it
 * is now. So an agent that matches throughout comes exactly once, and no agent comes twice, whatever changes meanwhile.
 */
import { SEARCH_DIMENSIONS, type SearchFilters } from "../types.js";
import { type AgentIndex, compareKeys, type Key } from "./agent-index.js";
import { bitCount, hasBit, type Posting } from "./posting.js";
import { firstIndex } from "./sorted.js";

/** Where a traversal stands. */
export interface Position {
  /** Clock at which it began. */
  readonly seq: number;
  readonly after: Key;
}

export interface Hit {
  readonly slot: number;
  /** Its place in the traversal. */
  readonly key: Key;
}

/** Up to this share of all agents, matching ones are looked up one by one; beyond, the ranking is walked. */
const SPARSE_SHARE = 1 / 8;

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

/** A condition as one bitmap. */
function bitmapOf({ postings }: Condition, level: number, index: AgentIndex, scratch: Scratch): Uint32Array {
  const only = postings.length === 1 ? postings[0]!.bitmap : undefined;
  if (only !== undefined) return only;
  const words = scratch.take(level, index.capacity);
  for (const posting of postings) posting.unionInto(words);
  return words;
}

/** Slots that meet all conditions: a list where they are few, else a bitmap. */
function matching(index: AgentIndex, conditions: readonly Condition[], scratch: Scratch): number[] | Uint32Array {
  const [first, ...rest] = conditions as [Condition, ...Condition[]];
  const sparse = index.size * SPARSE_SHARE;
  const others = rest.map((condition, level) => bitmapOf(condition, level + 1, index, scratch));
  if (first.postings.every(({ list }) => list !== undefined)) {
    const lists = first.postings.map(({ list }) => list!);
    const slots = lists.length === 1 ? lists[0]! : [...new Set(lists.flat())];
    return slots.filter((slot) => others.every((words) => hasBit(words, slot)));
  }
  const result = scratch.take(0, index.capacity);
  for (const posting of first.postings) posting.unionInto(result);
  for (const words of others)
    for (let at = 0; at < result.length; at++) result[at]! &= at < words.length ? words[at]! : 0;
  let count = 0;
  for (const word of result) count += bitCount(word);
  if (count > sparse) return result;
  const slots: number[] = [];
  for (let at = 0; at < result.length; at++)
    for (let word = result[at]!; word !== 0; word &= word - 1) slots.push(at * 32 + (31 - Math.clz32(word & -word)));
  return slots;
}

/** The `limit` smallest of some places, in order. */
class Smallest {
  #held: Uint32Array;
  #count = 0;
  #bound = 0xffffffff;

  constructor(readonly limit: number) {
    this.#held = new Uint32Array(limit * 8);
  }

  offer(place: number): void {
    if (place >= this.#bound) return;
    this.#held[this.#count++] = place;
    if (this.#count === this.#held.length) this.#cut();
  }

  #cut(): void {
    this.#held.subarray(0, this.#count).sort();
    this.#count = Math.min(this.#count, this.limit);
    if (this.#count === this.limit) this.#bound = this.#held[this.limit - 1]!;
  }

  get places(): Uint32Array {
    this.#cut();
    return this.#held.subarray(0, this.#count);
  }
}

export interface SelectRequest {
  readonly filters: SearchFilters;
  /** Undefined: from the beginning. */
  readonly position: Position | undefined;
  /** Clock of a traversal that begins. */
  readonly seq: number;
  readonly limit: number;
  /** Agents that no member registered count too. */
  readonly discovered: boolean;
}

/** The next agents, at most `limit`, in the order of the traversal. */
export function select(index: AgentIndex, request: SelectRequest, scratch: Scratch): Hit[] {
  const { filters, position, limit, discovered } = request;
  const conditions = conditionsOf(index, filters, discovered);
  if (conditions === undefined) return [];
  const atLeast = filters.min_properties ?? 0;
  // Nothing changed places since the traversal began: then the ranking of today is the traversal's.
  const seq = position?.seq ?? request.seq;
  const pinned = index.lastMoved > seq ? seq : Infinity;
  const passes = (slot: number): boolean => index.counts[slot]! >= atLeast && index.moved[slot]! <= pinned;
  const start =
    position === undefined
      ? 0
      : firstIndex(index.order, 0, (slot) => compareKeys(index.keyOf(slot), position.after) > 0);
  const found = conditions.length === 0 ? undefined : matching(index, conditions, scratch);
  const slots = Array.isArray(found)
    ? sparseSlots(index, found.filter(passes), start, limit)
    : denseSlots(index, (slot) => (found === undefined || hasBit(found, slot)) && passes(slot), {
        start,
        limit,
        atLeast,
      });
  const hits = slots.map((slot) => ({ slot, key: index.keyOf(slot) }));
  if (pinned === Infinity) return hits;
  const returning = movedHits(index, request, { seq, after: position?.after });
  if (returning.length === 0) return hits;
  return [...hits, ...returning].sort((a, b) => compareKeys(a.key, b.key)).slice(0, limit);
}

function sparseSlots(index: AgentIndex, slots: readonly number[], start: number, limit: number): number[] {
  const smallest = new Smallest(limit);
  for (const slot of slots) {
    const place = index.rank[slot]!;
    if (place >= start) smallest.offer(place);
  }
  return Array.from(smallest.places, (place) => index.order[place]!);
}

function denseSlots(
  index: AgentIndex,
  passes: (slot: number) => boolean,
  { start, limit, atLeast }: { start: number; limit: number; atLeast: number },
): number[] {
  const slots: number[] = [];
  // The score follows the number of properties: below this one nobody has enough of them.
  const floor = 0.1 * Math.log(atLeast + 1) - 1e-9;
  for (let place = start; place < index.order.length && slots.length < limit; place++) {
    const slot = index.order[place]!;
    if (index.scores[slot]! < floor) break;
    if (passes(slot)) slots.push(slot);
  }
  return slots;
}

/** A traversal: when it began, and where it stands, unless at its beginning. */
type Begun = Pick<Position, "seq"> & { readonly after: Key | undefined };

/** Agents that moved since the traversal began and still match, at their old places. */
function movedHits(index: AgentIndex, request: SelectRequest, { seq, after }: Begun): Hit[] {
  const { filters, discovered } = request;
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
