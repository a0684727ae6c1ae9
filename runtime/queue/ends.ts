/** Counts what has ended, and tells of the next. */
import { waitWithin } from "./pauses.js";

/** Longest wait of who looks at other things too, in milliseconds. */
const SOON_MS = 5;

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

  /** Resolves with the next one, and soon where there is none. */
  soon(): Promise<void> {
    return waitWithin(this.next(), SOON_MS);
  }
}
