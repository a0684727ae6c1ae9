/** Which agents have a value: a short list while they are few, a bitmap when they are many. Agents are slot numbers. */

/** A list costs about 8 bytes a slot, a bitmap one bit for every slot there is. */
const SLOTS_PER_ENTRY = 64;
/** Lists up to this length are never worth a bitmap. */
const SHORT_LIST = 64;

export class Posting {
  #list: number[] | undefined = [];
  #words = new Uint32Array(0);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param capacity how many slots there is room for: a bitmap is made that long */
  add(slot: number, capacity: number): void {
    this.#size += 1;
    if (this.#list === undefined) {
      this.#set(slot, capacity);
      return;
    }
    this.#list.push(slot);
    if (this.#size > SHORT_LIST && this.#size > capacity / SLOTS_PER_ENTRY) {
      const list = this.#list;
      this.#list = undefined;
      for (const one of list) this.#set(one, capacity);
    }
  }

  delete(slot: number): void {
    this.#size -= 1;
    if (this.#list === undefined) {
      this.#words[slot >>> 5]! &= ~(1 << (slot & 31));
      return;
    }
    const last = this.#list.pop()!;
    if (last !== slot) this.#list[this.#list.indexOf(slot)] = last;
  }

  #set(slot: number, capacity: number): void {
    const word = slot >>> 5;
    if (word >= this.#words.length) {
      const grown = new Uint32Array(Math.max(word + 1, (capacity + 31) >>> 5));
      grown.set(this.#words);
      this.#words = grown;
    }
    this.#words[word]! |= 1 << (slot & 31);
  }

  /** Its bitmap, where it has one; may be shorter than the slots there are. Not to be written to. */
  get bitmap(): Uint32Array | undefined {
    return this.#list === undefined ? this.#words : undefined;
  }

  /** Its list, where it has one. */
  get list(): readonly number[] | undefined {
    return this.#list;
  }

  /** Adds its slots to a bitmap. */
  unionInto(words: Uint32Array): void {
    if (this.#list === undefined) {
      for (let at = 0; at < this.#words.length; at++) words[at]! |= this.#words[at]!;
    } else {
      for (const slot of this.#list) words[slot >>> 5]! |= 1 << (slot & 31);
    }
  }
}

export const hasBit = (words: Uint32Array, slot: number): boolean =>
  slot >>> 5 < words.length && (words[slot >>> 5]! & (1 << (slot & 31))) !== 0;

/** How many bits of a word are set. */
export function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
