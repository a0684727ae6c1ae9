/** Lists of numbers by slot, end to end in one array: 4 bytes a number, and no object for each list. */

const START_NUMBERS = 8192;

/** A copy with room for `length` elements. */
export const grown = <A extends Float64Array | Uint32Array | Uint8Array>(array: A, length: number): A => {
  const next = new (array.constructor as new (length: number) => A)(length);
  next.set(array);
  return next;
};

export class ValuePool {
  /** Where a slot's list begins: its length, then its numbers. 0 is nowhere. */
  #starts = new Uint32Array(1024);
  #pool = new Uint32Array(START_NUMBERS);
  #end = 1;
  #waste = 0;

  get(slot: number): Uint32Array {
    const at = this.#starts[slot] ?? 0;
    return this.#pool.subarray(at + 1, at + 1 + this.#pool[at]!);
  }

  set(slot: number, numbers: readonly number[]): void {
    if (slot >= this.#starts.length) this.#starts = grown(this.#starts, slot * 2);
    const before = this.#starts[slot]!;
    const room = before === 0 ? -1 : this.#pool[before]!;
    let at = before;
    if (numbers.length > room) {
      if (before !== 0) this.#waste += room + 1;
      at = this.#end;
      this.#end += numbers.length + 1;
      if (this.#end > this.#pool.length) this.#pool = grown(this.#pool, this.#end * 2);
    } else this.#waste += room - numbers.length;
    this.#starts[slot] = at;
    this.#pool[at] = numbers.length;
    this.#pool.set(numbers, at + 1);
    if (this.#waste > this.#end / 2 && this.#end > START_NUMBERS) this.#compact();
  }

  #compact(): void {
    const pool = new Uint32Array(this.#end);
    let end = 1;
    for (let slot = 0; slot < this.#starts.length; slot++) {
      if (this.#starts[slot] === 0) continue;
      const numbers = this.get(slot);
      pool[end] = numbers.length;
      pool.set(numbers, end + 1);
      this.#starts[slot] = end;
      end += numbers.length + 1;
    }
    this.#pool = pool;
    this.#end = end;
    this.#waste = 0;
  }
}
