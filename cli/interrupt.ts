/** Ctrl-C, for work that has something on disk to take back; until then the system's own way is the quickest. */
import { Interrupted } from "./failure.js";

export interface Interruption {
  readonly signal: AbortSignal;
  /** From now on SIGINT and SIGTERM abort the signal instead of ending the process; a second one ends it. */
  readonly heed: () => void;
}

export function interruption(): Interruption {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    heed() {
      for (const name of ["SIGINT", "SIGTERM"] as const)
        process.once(name, () => controller.abort(new Interrupted(name)));
    },
  };
}
