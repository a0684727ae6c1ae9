/** Changes of tasks that applications stored by `adbind_enqueue`: a sender makes their events. */
import type { JsonObject, MaybePromise, TaskStatus } from "../contract/index.js";
import { isPassingFault } from "../db/open.js";
import { AdbindError } from "../errors.js";
import type { Logger } from "../log.js";
import type { Job } from "../queue/types.js";
import type { Handled } from "../queue/worker-options.js";
import { type AttemptOptions, laterOrDead } from "./attempt.js";
import { isUsableId } from "./ids.js";
import type { SenderMetrics } from "./metrics.js";
import { boundError } from "./redact.js";
import { HORIZON_MS } from "./schedule.js";
import type { Emitted, StatusChange } from "./types.js";

interface StoredChange {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly result?: JsonObject | null;
  readonly message?: string | null;
  readonly dedupKey?: string | null;
}

/** What a change cannot be made for, for good; anything else is tried again. */
const refusals: readonly string[] = ["transition_refused", "event_invalid", "dedup_conflict"];

/** How long a change waits whose database, or whose task's row, could not be had, in milliseconds. */
const PASSING_DELAY_MS = 5_000;

export interface StoredChangeParts {
  readonly tasks: {
    update(taskId: string, change: StatusChange, options: { readonly dedupKey: string }): MaybePromise<Emitted>;
  };
  readonly attemptOptions: Pick<AttemptOptions, "now" | "random">;
  readonly metrics: Pick<SenderMetrics, "ended">;
  readonly logger: Logger | undefined;
}

/**
 * Makes the event of a change. Under a dedup key of its own: a process that is killed between this and its acknowledgement
 * makes it once all the same.
 * @throws AdbindError `job_unreadable` for a body that is no change
 */
export async function applyChange(parts: StoredChangeParts, job: Job): Promise<Handled> {
  const { taskId, status, result, message, dedupKey } = changeIn(job);
  const change: StatusChange = { status, ...(result != null && { result }), ...(message != null && { message }) };
  try {
    await parts.tasks.update(taskId, change, { dedupKey: nameOfChange(dedupKey, job) });
  } catch (fault) {
    return failed(parts, { job, taskId, fault });
  }
  return { outcome: { kind: "done" }, healthy: true };
}

/**
 * What a change is known by: its own key, so that `update` with that key is the same event. A longer one, or one of no characters, that
 * function has taken and told apart by itself: the job of a change is one, and names it as well.
 */
const nameOfChange = (dedupKey: string | null | undefined, job: Job): string =>
  dedupKey != null && isUsableId(dedupKey) ? dedupKey : `change ${job.key}`;

/** Whatever it failed with says nothing of the principal's other changes: they go on. */
function failed(
  { attemptOptions, metrics, logger }: StoredChangeParts,
  { job, taskId, fault }: { readonly job: Job; readonly taskId: string; readonly fault: unknown },
): Handled {
  const error = boundError(reasonOf(fault));
  if (fault instanceof AdbindError && refusals.includes(fault.code)) {
    metrics.ended("refused", 1);
    return { outcome: { kind: "refused", error }, healthy: null };
  }
  const now = attemptOptions.now();
  const of = { event: job.id, taskId, error };
  // Not an attempt of it: the changes behind it stay behind it. But not for ever.
  if (isPassingFault(fault) && job.attempts === 0 && now - job.createdAt < HORIZON_MS) {
    logger?.warn(of, "a stored change waits for its task");
    return { outcome: { kind: "released", due: now + PASSING_DELAY_MS }, healthy: null };
  }
  const outcome = laterOrDead({ job, error }, attemptOptions);
  if (outcome.kind === "dead") metrics.ended("dead", 1);
  logger?.warn(
    { ...of, err: fault },
    outcome.kind === "dead" ? "a stored change was given up" : "a stored change failed",
  );
  return { outcome, healthy: null };
}

const reasonOf = (fault: unknown): string =>
  fault instanceof AdbindError ? `${fault.code}: ${fault.message}` : `the change could not be made: ${String(fault)}`;

function changeIn(job: Job): StoredChange {
  try {
    return JSON.parse(new TextDecoder().decode(job.body)) as StoredChange;
  } catch (cause) {
    throw new AdbindError("job_unreadable", "a stored change is no JSON", { where: `event ${job.id}`, cause });
  }
}
