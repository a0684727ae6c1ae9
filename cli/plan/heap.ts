/** Moments to come, soonest first; of equal ones the order is theirs of being added. */
export class Moments {
  #times = new Float64Array(1_024);
  #orders = new Float64Array(1_024);
  #whats = new Int32Array(1_024);
  #whos = new Int32Array(1_024);
  #size = 0;
  #added = 0;

  get size(): number {
    return this.#size;
  }

  /** When the next one is, in milliseconds; infinity when there is none. */
  get next(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : this.#times[0]!;
  }

  /** @param at milliseconds */
  add(at: number, what: number, who: number): void {
    if (this.#size === this.#times.length) this.#grow();
    let place = this.#size++;
    const order = this.#added++;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (this.#times[above]! <= at) break;
      this.#move(above, place);
      place = above;
    }
    this.#put(place, at, order, what, who);
  }

  /** Takes the next one; there must be one. */
  take(): { at: number; what: number; who: number } {
    const first = { at: this.#times[0]!, what: this.#whats[0]!, who: this.#whos[0]! };
    const last = --this.#size;
    if (last > 0) this.#sink(last);
    return first;
  }

  /** Puts the last one where it belongs, from the top down. */
  #sink(last: number): void {
    const [at, order] = [this.#times[last]!, this.#orders[last]!];
    const [what, who] = [this.#whats[last]!, this.#whos[last]!];
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= last) break;
      const below = left + 1 < last && this.#before(left + 1, left) ? left + 1 : left;
      if (this.#times[below]! > at || (this.#times[below] === at && this.#orders[below]! > order)) break;
      this.#move(below, place);
      place = below;
    }
    this.#put(place, at, order, what, who);
  }

  #before(one: number, other: number): boolean {
    const [a, b] = [this.#times[one]!, this.#times[other]!];
    return a < b || (a === b && this.#orders[one]! < this.#orders[other]!);
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#times[from]!, this.#orders[from]!, this.#whats[from]!, this.#whos[from]!);
  }

  #put(place: number, at: number, order: number, what: number, who: number): void {
    this.#times[place] = at;
    this.#orders[place] = order;
    this.#whats[place] = what;
    this.#whos[place] = who;
  }

  #grow(): void {
    const wider = <T extends Float64Array | Int32Array>(old: T, made: T): T => {
      made.set(old as never);
      return made;
    };
    const size = this.#times.length * 2;
    this.#times = wider(this.#times, new Float64Array(size));
    this.#orders = wider(this.#orders, new Float64Array(size));
    this.#whats = wider(this.#whats, new Int32Array(size));
    this.#whos = wider(this.#whos, new Int32Array(size));
  }
}
