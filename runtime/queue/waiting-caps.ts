/** What waits unattempted is capped, by age and by number for each endpoint, whether it fails or not: beyond that it expires. */
import { MORE, type PeriodicStep } from "./periodic.js";
import type { Queue } from "./types.js";

export interface WaitingCaps {
  readonly queue: Queue;
  readonly now: () => number;
  /** What was added this many milliseconds ago expires; not what an operator has paused. */
  readonly expireMs: number;
  /** Most jobs of an endpoint. */
  readonly keep: number;
  /** Told of jobs that have expired. */
  readonly onExpired: (endpoint: string, count: number) => void;
}

/** How often it is looked, in milliseconds by the process's own clock: a look counts what waits. */
const LOOK_MS = 600_000;
/** Endpoints of one page. */
const PAGE = 100;
/** Transactions of one turn that end jobs: all other steps wait for as long. */
const TURN_TRANSACTIONS = 4;

/** Expires what waits beyond its caps, now and then. */
export function waitingCaps({ queue, now, expireMs, keep, onExpired }: WaitingCaps): PeriodicStep {
  let looked = Number.NEGATIVE_INFINITY;
  // Where the next turn goes on.
  let after = "";
  return {
    name: "expire what has waited for too long",
    meanwhile: "it stays, and is sent when its endpoint is well",
    async run(stopping) {
      if (performance.now() - looked < LOOK_MS) return undefined;
      let left = TURN_TRANSACTIONS;
      const expired = async (endpoint: string, end: () => Promise<number>): Promise<void> => {
        for (let count = 1; count > 0 && left > 0 && !stopping.aborted; ) {
          count = await end();
          if (count === 0) return;
          left -= 1;
          onExpired(endpoint, count);
        }
      };
      for (let more = true; more && !stopping.aborted; ) {
        const page = await queue.endpoints({ after, limit: PAGE });
        for (const { endpoint, stoppedAt, waiting } of page) {
          if (waiting > keep) await expired(endpoint, () => queue.expireBeyond(endpoint, keep, "too many wait for it"));
          if (stoppedAt === null && waiting > 0)
            await expired(endpoint, () => queue.expire(endpoint, now() - expireMs, "it waited for too long"));
          // This endpoint's turn comes again, and those after it.
          if (left === 0) return MORE;
          after = endpoint;
        }
        more = page.length === PAGE;
      }
      after = "";
      looked = performance.now();
      return undefined;
    },
  };
}
