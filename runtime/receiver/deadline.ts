/** Work that somebody else wrote, and the end of waiting for it. */
import { timerMs } from "../timers.js";

/** Why a handler is not waited for any more. */
export class HandlerOverdue extends Error {
  override readonly name = "HandlerOverdue";
}

/** A handler's run that can be given up, by its deadline or by whoever stops the receiver. */
export interface TimedRun {
  /** Settles as the work does, or rejects with the reason once the run is given up. One wait at a time. */
  readonly wait: <T>(work: Promise<T>) => Promise<T>;
  readonly signal: AbortSignal;
  readonly giveUp: (reason: Error) => void;
  /** Nobody waits any more: its timer goes. */
  readonly close: () => void;
}

/** @param seconds until the run is given up by itself */
export function startRun(seconds: number): TimedRun {
  const controller = new AbortController();
  let over: Error | undefined;
  /** Ends the wait under way. `Promise.race` would make three promises more a wait, of every event. */
  let leave = (_reason: Error): void => undefined;
  const giveUp = (reason: Error): void => {
    // It may be given up between two waits.
    over ??= reason;
    leave(over);
    controller.abort(reason);
  };
  const late = (): void => giveUp(new HandlerOverdue(`the handler took longer than ${seconds} s`));
  // Work that is given up must not keep a process alive either.
  const timer = setTimeout(late, timerMs(seconds * 1000)).unref();
  return {
    wait: (work) =>
      new Promise((resolve, reject) => {
        leave = reject;
        work.then(resolve, reject);
        if (over !== undefined) reject(over);
      }),
    signal: controller.signal,
    giveUp,
    close: () => clearTimeout(timer),
  };
}
