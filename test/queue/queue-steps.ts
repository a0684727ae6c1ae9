/** What the cases of a queue do again and again. */
import type { Job, JobOutcome, Queue } from "../../runtime/queue/types.js";

const anyRoom = () => 1_000;

export const take = (queue: Queue, now: number, limit = 100, room: (endpoint: string) => number = anyRoom) =>
  queue.take({ now, limit, room });
export const keys = (jobs: readonly Job[]) => jobs.map((one) => one.key).sort();
export const end = (job: Job, outcome: JobOutcome) => ({ job, outcome });
export const none = { ready: 0, dead: 0, expired: 0, refused: 0 };
