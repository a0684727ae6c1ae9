import type { Connection } from "../transport/caller.js";
import { unlessAborted } from "../unless-aborted.js";

/** A connection that all who need it wait for, each with a patience of its own. */
export interface Opening {
  readonly connection: Promise<Connection>;
  /** @throws the signal's reason, or what keeps it from being opened */
  wait(signal: AbortSignal | undefined): Promise<Connection>;
}

/**
 * Opens a connection for whoever waits for it: who gives up takes it from nobody else.
 * @param open with a signal that ends it when the last one has given up
 * @param end told when it has failed, or nobody waits for it any more: at once, since who comes next is to wait for another
 */
export function openFor(open: (signal: AbortSignal) => Promise<Connection>, end: () => void): Opening {
  const given = new AbortController();
  const connection = open(given.signal);
  let [waiting, opened] = [0, false];
  connection.then(() => {
    opened = true;
  }, end);
  return {
    connection,
    async wait(signal) {
      waiting += 1;
      try {
        return await unlessAborted(connection, signal);
      } finally {
        waiting -= 1;
        if (waiting === 0 && !opened) {
          end();
          given.abort(signal?.reason);
        }
      }
    },
  };
}
