/** An application's listeners: whoever is told of something must not end what he is told of. */

const textOf = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));

function warn(error: unknown): void {
  const { process } = globalThis as { process?: { emitWarning?: (text: string, type: string) => void } };
  process?.emitWarning?.(`a listener has failed itself: ${textOf(error)}`, "AdbindFault");
}

/**
 * Calls a listener. What it throws, or what a promise of its rejects with, becomes a warning of the process: it ends neither the
 * work it is told of nor the process. Nobody waits for its promise.
 */
export function safely(tell: () => unknown): void {
  try {
    const answered = tell();
    // Listeners answer nothing; one that is async does.
    if (answered instanceof Object && "then" in answered) void Promise.resolve(answered).catch(warn);
  } catch (error) {
    warn(error);
  }
}
