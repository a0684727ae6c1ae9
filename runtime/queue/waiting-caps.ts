/** What waits unattempted is capped, by age and by number for each endpoint, whether it fails or not: beyond that it expires. */
import type { PeriodicStep } from "./periodic.js";
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

/** Expires what waits beyond its caps, now and then. */
export function waitingCaps({ queue, now, expireMs, keep, onExpired }: WaitingCaps): PeriodicStep {
  let looked = Number.NEGATIVE_INFINITY;
  return {
    name: "expire what has waited for too long",
    meanwhile: "it stays, and is sent when its endpoint is well",
    async run(stopping) {
      if (performance.now() - looked < LOOK_MS) return;
      const expired = async (endpoint: string, end: () => Promise<number>): Promise<void> => {
        for (let count = await end(); count > 0 && !stopping.aborted; count = await end()) onExpired(endpoint, count);
      };
      for (let after = "", more = true; more && !stopping.aborted; ) {
        const page = await queue.endpoints({ after, limit: PAGE });
        for (const { endpoint, stoppedAt, waiting } of page) {
          if (waiting > keep) await expired(endpoint, () => queue.expireBeyond(endpoint, keep, "too many wait for it"));
          if (stoppedAt !== null || waiting === 0) continue;
          await expired(endpoint, () => queue.expire(endpoint, now() - expireMs, "it waited for too long"));
        }
        more = page.length === PAGE;
        after = page.at(-1)?.endpoint ?? "";
      }
      looked = performance.now();
    },
  };
}
