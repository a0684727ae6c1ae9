/** Leases of a queue in one of several databases: nothing of a principal that is on its way is worked on. */
import type { Job, Queue } from "../../queue/types.js";
import { awayOf } from "../../store/split/rows.js";
import { isChange, metaOf } from "../outbox.js";

/** Pause before what was given back is leased again, in milliseconds. */
const AGAIN_MS = 500;

/** Whose a job is; undefined for a change that no sender has looked at, and for what cannot be read. */
function principalOf(job: Job): string | undefined {
  try {
    const meta = metaOf(job);
    return isChange(meta) ? undefined : meta.principal;
  } catch {
    return undefined;
  }
}

/**
 * The queue, without jobs of principals that move. Whoever moves one says so first and looks for leases then: either he sees
 * ours, and waits for its end, or we see him, and give it back.
 */
export function leasingHere(queue: Queue, now: () => number): Queue {
  const take: Queue["take"] = async (request) => {
    const jobs = await queue.take(request);
    const principals = [...new Set(jobs.map(principalOf).filter((one) => one !== undefined))];
    if (principals.length === 0) return jobs;
    const away = await queue.read((q) => awayOf(q, "principal", principals, now()));
    if (away.size === 0) return jobs;
    const isAway = (job: Job): boolean => away.has(principalOf(job) ?? "");
    const outcome = { kind: "released", due: request.now + AGAIN_MS } as const;
    await queue.ack(
      jobs.filter(isAway).map((job) => ({ job, outcome })),
      request.now,
    );
    return jobs.filter((job) => !isAway(job));
  };
  return new Proxy(queue, {
    get(target, name) {
      if (name === "take") return take;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
