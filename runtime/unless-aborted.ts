/** Waits that a signal ends, of work that knows of none. */

/**
 * What some work comes to, unless a signal ends the wait for it first; the work itself goes on.
 * @throws the signal's reason
 */
export async function unlessAborted<T>(work: Promise<T> | T, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, over]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}
