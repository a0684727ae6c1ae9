/** Items of JSON lists, kept as one text each: the collector carries one about where it would carry a dozen. */

/** Items with commas between, as they stand in a list. One may be several, or none. */
export class JsonItems {
  readonly text: string;
  /** Where each begins and ends, in turn. */
  readonly #bounds: Uint32Array;

  /** @param items JSON; one of several has its commas, one of none is empty */
  constructor(items: readonly string[]) {
    this.text = (items.includes("") ? items.filter((item) => item !== "") : items).join(",");
    this.#bounds = new Uint32Array(items.length * 2);
    let start = 0;
    for (let at = 0; at < items.length; at++) {
      const end = start + items[at]!.length;
      this.#bounds[2 * at] = start;
      this.#bounds[2 * at + 1] = end;
      // After the comma, where it is not empty.
      if (end > start) start = end + 1;
    }
  }

  /** The items that are picked; those that stand beside each other are one text. */
  picked(picks: readonly boolean[]): string[] {
    const parts: string[] = [];
    let [from, to] = [0, -1];
    for (let at = 0; at < picks.length; at++) {
      const [start, end] = [this.#bounds[2 * at]!, this.#bounds[2 * at + 1]!];
      if (!picks[at] || start === end) continue;
      if (start !== to + 1) {
        if (to >= 0) parts.push(this.text.slice(from, to));
        from = start;
      }
      to = end;
    }
    if (to >= 0) parts.push(this.text.slice(from, to));
    return parts;
  }
}
