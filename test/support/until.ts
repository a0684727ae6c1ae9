/** Waits in tests: for something to be so, or for what needs nothing but its turn; never for time to pass. */

export interface Patience {
  /** Longest wait, in milliseconds. By default far more than it takes, also on a machine with other work. */
  readonly limitMs?: number;
  /** Between two looks, in milliseconds: longer where a look costs others something. */
  readonly stepMs?: number;
}

/**
 * @param holds what is waited for
 * @param what it is, in words, for the message; its own text without them
 * @throws Error when it is not so within the limit
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string) = String(holds),
  { limitMs = 30_000, stepMs = 5 }: Patience = {},
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > end)
      throw new Error(`waited ${limitMs / 1000} s in vain for: ${typeof what === "string" ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
}

/** More turns than any chain of promises and callbacks in memory takes. */
const TURNS = 200;

/**
 * Lets everything run that waits for nothing but a turn of the event loop: what has not ended then waits for something
 * that is yet to come. Says nothing of what waits for a socket, a thread or another process.
 */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    await new Promise(setImmediate);
  }
}
