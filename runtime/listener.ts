/** An application's listeners: whoever is told of something must not end what he is told of. */

export const errorText = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/** Where there is a process. */
export function processWarning(text: string, type: string): void {
  const { process } = globalThis as { process?: { emitWarning?: (text: string, type: string) => void } };
  process?.emitWarning?.(text, type);
}

const warn = (error: unknown): void =>
  processWarning(`a listener has failed itself: ${errorText(error)}`, "AdbindFault");

/** Calls a listener. What it throws, or a promise of its rejects with, becomes a warning of the process. Nobody waits for its promise. */
export function safely(tell: () => unknown): void {
  try {
    void Promise.resolve(tell()).catch(warn);
  } catch (error) {
    warn(error);
  }
}
