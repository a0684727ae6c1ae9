/** Writes that nothing waits for while jobs run; a stop does. */

export class Aside {
  readonly #work = new Set<Promise<void>>();

  /** @param onFault told of what it rejects with */
  add(work: Promise<void>, onFault: (error: unknown) => void): void {
    const told = work.catch(onFault).finally(() => this.#work.delete(told));
    this.#work.add(told);
  }

  /** Resolves when nothing is being written. */
  async ended(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }
}
