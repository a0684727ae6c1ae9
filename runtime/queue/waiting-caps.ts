/** What waits is capped, by age and unattempted by number for each endpoint, whether it fails or not: beyond that it expires. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EndpointRecord } from "./jobs.js";
import { type OldJobs, oldJobs } from "./oldest.js";
import { MORE, type PeriodicStep } from "./periodic.js";
import type { Queue } from "./types.js";

/** What caps need of a queue. */
type CappedQueue = Pick<Queue, "topic" | "read" | "endpoints" | "expire" | "deadLetter" | "expireBeyond">;

export interface WaitingCaps {
  readonly queue: CappedQueue;
  readonly now: () => number;
  /** What was added this many milliseconds ago expires; not what an operator has paused, or has resumed since. */
  readonly expireMs: number;
  /** Most jobs of an endpoint. */
  readonly keep: number;
  /** Pause after a look that found too many and could end none of them, in milliseconds: somebody held them. */
  readonly heldLookMs?: number;
  /** Jobs that one question may read, unless one endpoint has more. */
  readonly lookedJobs?: number;
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
/** Jobs that one question may read, unless one endpoint has more: on SQLite nobody else has a turn meanwhile, some 15 ms. */
const LOOKED_JOBS = 20_000;

const NONE: OldJobs = { added: false, begun: false };

/**
 * Of a page of endpoints, those whose jobs have waited for too long. Asked as they are come to, some at a time: with a large backlog
 * others have their turn between, and who has to end many of the first endpoint's reads none of the others' each time.
 * @param before when the last of those was added
 */
async function* oldOf(
  { queue, lookedJobs = LOOKED_JOBS }: Pick<WaitingCaps, "queue" | "lookedJobs">,
  page: readonly EndpointRecord[],
  before: number,
): AsyncGenerator<EndpointRecord & OldJobs> {
  for (let from = 0; from < page.length; ) {
    let [to, jobs] = [from, 0];
    do jobs += page[to++]!.waiting;
    while (to < page.length && jobs + page[to]!.waiting <= lookedJobs);
    const some = page.slice(from, to);
    // What has waited out a pause has its time from then on.
    const asked = some.filter((one) => one.stoppedAt === null && one.resumedAt <= before && one.waiting > 0);
    const endpoints = asked.map(({ endpoint }) => endpoint);
    const old = await queue.read((q) => oldJobs(q, queue.topic, { endpoints, before }));
    for (const one of some) yield { ...one, ...(old.get(one.endpoint) ?? NONE) };
    from = to;
    if (from < page.length) await nextTurn();
  }
}

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
        const [before, why] = [now() - expireMs, "it waited for too long"];
        for await (const { endpoint, waiting, added, begun } of oldOf(caps, page, before)) {
          const isFull = waiting > keep;
          if (isFull && !(await expired(endpoint, () => queue.expireBeyond(endpoint, keep, "too many wait for it"))))
            held = true;
          if (added) await expired(endpoint, () => queue.expire(endpoint, before, why));
          // Attempted once, and given back ever since.
          if (begun) await expired(endpoint, () => queue.deadLetter(endpoint, before, why), "dead");
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
