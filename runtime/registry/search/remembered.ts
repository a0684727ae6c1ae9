/** Counts that were asked for before, for as long as what they are counted from has not changed. */

/** Answers kept: a page's counts are some ten kilobytes. */
const KEPT = 64;

export class Remembered {
  #revision = -1;
  readonly #kept = new Map<string, unknown>();

  /**
   * @param revision another number is another state of what is counted
   * @param question what is asked, as JSON
   * @param make counts
   */
  answer<T>(revision: number, question: object, make: () => T): T {
    if (revision !== this.#revision) {
      this.#kept.clear();
      this.#revision = revision;
    }
    const key = JSON.stringify(question);
    const known = this.#kept.get(key) as T | undefined;
    if (known !== undefined) return known;
    const made = make();
    // The one that was made first goes: what is asked again and again is soon made anew.
    if (this.#kept.size >= KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(key, made);
    return made;
  }
}
