/** When the loop of jobs looks for more: it rests where there is nothing, pauses where much is under way, and may be woken. */
import { timerMs } from "../timers.js";

/** Between two looks while attempts end all the time, in milliseconds; sooner where little is left. */
const BUSY_PAUSE_MS = 20;

/** After a look that brought no more than so many jobs, in milliseconds. */
const FEW_JOBS = 8;
const BREATH_MS = 1;

export class Pauses {
  readonly #busyMs: number;
  #woken = false;
  #lookers: (() => void)[] = [];
  /** The look that is under way, or was last. */
  #look = Promise.resolve();
  /** Ends the rest. */
  #wake = (): void => undefined;
  /** Ends the pause. */
  #hurry = (): void => undefined;

  /**
   * @param busyMs longest pause while much is under way, in milliseconds
   * @param goesOn the last look is only a part of one
   */
  constructor(
    busyMs = BUSY_PAUSE_MS,
    readonly goesOn: () => boolean = () => false,
  ) {
    this.#busyMs = busyMs;
  }

  /** A look begins. @returns to be called when it has ended: tells those who asked for it */
  begin(): () => void {
    // What came during the parts before may be where they have been already.
    this.#woken &&= this.goesOn();
    const asked = this.#lookers.splice(0);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#look = promise;
    return () => {
      for (const looker of [...asked, resolve]) looker();
    };
  }

  /** There may be something: ends the rest, and the next one before it begins. */
  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  /** Ends the pause while much is under way. */
  hurry(): void {
    this.#hurry();
  }

  /** Resolves when the look that is under way has ended; at once where none is. */
  lookEnded(): Promise<void> {
    return this.#look;
  }

  /** Resolves when a look has ended that is still to begin. */
  looked(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lookers.push(resolve);
    this.wake();
    this.hurry();
    return promise;
  }

  pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#busyMs);
    this.#hurry = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  }

  /** Where few were leased there is hardly any more: they go out before another look costs time. */
  async breathe(leased: number): Promise<void> {
    if (leased <= FEW_JOBS) await new Promise((resolve) => setTimeout(resolve, BREATH_MS));
  }

  /** @param keepsAlive the timer keeps a process alive that has nothing else to do */
  rest(ms: number, keepsAlive: boolean): Promise<void> {
    if (this.#woken) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timerMs(ms));
    if (!keepsAlive) timer.unref();
    this.#wake = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  }
}

/** Waits for the end of work, but no longer than some milliseconds. */
export async function waitWithin(ended: Promise<unknown>, ms: number | undefined): Promise<void> {
  if (ms === undefined) return void (await ended);
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timerMs(ms));
  await Promise.race([ended, over]).finally(() => clearTimeout(timer));
}
