/** Waits in tests: for something to be so, or for what needs nothing but its turn; never for time to pass. */

export interface Patience {
  /** Longest wait, in milliseconds. By default far more than it takes, also on a machine with other work. */
  readonly limitMs?: number;
  /** Between two looks, in milliseconds: longer where a look costs others something. By default more the longer it has waited. */
  readonly stepMs?: number;
}

/** Between two looks where nobody says it, in milliseconds: soon at first, then by the part of what has been waited that a look adds. */
const [SOON_MS, SELDOM_MS, PART] = [5, 50, 0.1];
const stepAfter = (waitedMs: number): number => Math.min(Math.max(waitedMs * PART, SOON_MS), SELDOM_MS);

/**
 * @param holds what is waited for
 * @param what it is, in words, for the message; its own text without them
 * @throws Error when it is not so within the limit
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string) = String(holds),
  { limitMs = 30_000, stepMs }: Patience = {},
): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    const waitedMs = performance.now() - began;
    if (waitedMs > limitMs)
      throw new Error(`waited ${limitMs / 1000} s in vain for: ${typeof what === "string" ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, stepMs ?? stepAfter(waitedMs)));
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
