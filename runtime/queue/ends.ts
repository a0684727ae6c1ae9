/** Counts what has ended, and tells of the next. */
export class Ends {
  #count = 0;
  #awaiting: (() => void)[] = [];

  get count(): number {
    return this.#count;
  }

  add(): void {
    this.#count += 1;
    for (const resolve of this.#awaiting.splice(0)) resolve();
  }

  next(): Promise<void> {
    return new Promise((resolve) => this.#awaiting.push(resolve));
  }
}
