/** What waits is capped, by age and unattempted by number for each endpoint, whether it fails or not: beyond that it expires. */
import { MORE, type PeriodicStep } from "./periodic.js";
import type { Queue } from "./types.js";

export interface WaitingCaps {
  readonly queue: Queue;
  readonly now: () => number;
  /** What was added this many milliseconds ago expires; not what an operator has paused, or has resumed since. */
  readonly expireMs: number;
  /** Most jobs of an endpoint. */
  readonly keep: number;
  /** Pause after a look that found too many and could end none of them, in milliseconds: somebody held them. */
  readonly heldLookMs?: number;
  /** Told of jobs that have expired; those that were attempted are dead. */
  readonly onExpired: (endpoint: string, count: number, state: "expired" | "dead") => void;
}

/** How often it is looked, in milliseconds by the process's own clock: a look counts what waits. */
const LOOK_MS = 600_000;
const HELD_LOOK_MS = 10_000;
/** Endpoints of one page. */
const PAGE = 100;
/** Transactions of one turn that end jobs: all other steps wait for as long. */
const TURN_TRANSACTIONS = 4;

/** Expires what waits beyond its caps, now and then. */
export function waitingCaps(caps: WaitingCaps): PeriodicStep {
  const { queue, now, expireMs, keep, heldLookMs = HELD_LOOK_MS, onExpired } = caps;
  let next = Number.NEGATIVE_INFINITY;
  let held = false;
  // Where the next turn goes on.
  let after = "";
  return {
    name: "expire what has waited for too long",
    meanwhile: "it stays, and is sent when its endpoint is well",
    async run(stopping) {
      if (performance.now() < next) return undefined;
      let left = TURN_TRANSACTIONS;
      /** @returns whether there was anything to end */
      const expired = async (
        endpoint: string,
        end: () => Promise<number>,
        state: "expired" | "dead" = "expired",
      ): Promise<boolean> => {
        const before = left;
        while (left > 0 && !stopping.aborted) {
          const count = await end();
          if (count === 0) break;
          left -= 1;
          onExpired(endpoint, count, state);
        }
        return left < before;
      };
      for (let more = true; more && !stopping.aborted; ) {
        const page = await queue.endpoints({ after, limit: PAGE });
        for (const { endpoint, stoppedAt, resumedAt, waiting } of page) {
          const isFull = waiting > keep;
          if (isFull && !(await expired(endpoint, () => queue.expireBeyond(endpoint, keep, "too many wait for it"))))
            held = true;
          const [before, why] = [now() - expireMs, "it waited for too long"];
          // What has waited out a pause has its time from then on.
          if (stoppedAt === null && resumedAt <= before && waiting > 0) {
            await expired(endpoint, () => queue.expire(endpoint, before, why));
            // Attempted once, and given back ever since.
            await expired(endpoint, () => queue.deadLetter(endpoint, before, why), "dead");
          }
          // This endpoint's turn comes again, and those after it.
          if (left === 0) return MORE;
          after = endpoint;
        }
        more = page.length === PAGE;
      }
      after = "";
      next = performance.now() + (held ? heldLookMs : LOOK_MS);
      held = false;
      return undefined;
    },
  };
}
