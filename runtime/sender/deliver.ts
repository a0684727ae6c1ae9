/** What is done with a job of the outbox, and what of it is written down in the transaction that acknowledges it. */
import type { JsonObject, TaskStatus } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import type { AckEffect, Job } from "../queue/types.js";
import type { Handled, JobLease } from "../queue/worker-options.js";
import type { ActivityRow, SenderTables } from "../store/sender-tables.js";
import { activityRow } from "./activity.js";
import { type AttemptOptions, attempt } from "./attempt.js";
import type { SenderMetrics } from "./metrics.js";
import { isChange, metaOf } from "./outbox.js";
import { boundError } from "./redact.js";
import type { Tasks } from "./tasks.js";
import type { StatusChange } from "./types.js";

export interface DelivererParts {
  readonly tables: SenderTables;
  readonly tasks: Pick<Tasks, "update">;
  readonly attemptOptions: AttemptOptions;
  readonly metrics: SenderMetrics;
  readonly activityDays: number;
  readonly now: () => number;
}

export interface Deliverer {
  readonly handle: (job: Job, lease: JobLease) => Promise<Handled>;
  readonly effect: AckEffect;
}

export function deliverer({ tables, tasks, attemptOptions, metrics, activityDays, now }: DelivererParts): Deliverer {
  const rows = new WeakMap<object, ActivityRow>();
  return {
    async handle(job, lease) {
      const meta = metaOf(job);
      if (isChange(meta)) return applyChange(tasks, job);
      const report = await attempt({ job, meta, lease }, attemptOptions);
      if (report === undefined) return { outcome: { kind: "released", due: now() }, healthy: null };
      rows.set(report.handled.outcome, activityRow(job, report, now(), activityDays));
      metrics.attempted(job, report);
      return report.handled;
    },
    *effect(query, acked) {
      const made = acked.map(({ outcome }) => rows.get(outcome)).filter((row) => row !== undefined);
      yield* tables.log(query, made);
    },
  };
}

interface StoredChange {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly result?: JsonObject | null;
  readonly message?: string | null;
  readonly dedupKey?: string | null;
}

/** What a change cannot be made for, for good; anything else is tried again. */
const refusals: readonly string[] = ["transition_refused", "event_invalid", "dedup_conflict"];

/**
 * Makes the event of a change that an application stored by `adbind_enqueue`. Under a dedup key of its own: a process that
 * is killed between this and its acknowledgement makes it once all the same.
 */
async function applyChange(tasks: Pick<Tasks, "update">, job: Job): Promise<Handled> {
  const { taskId, status, result, message, dedupKey } = changeIn(job);
  const change: StatusChange = { status, ...(result != null && { result }), ...(message != null && { message }) };
  try {
    await tasks.update(taskId, change, { dedupKey: dedupKey ?? `change ${job.key}` });
  } catch (fault) {
    if (!(fault instanceof AdbindError) || !refusals.includes(fault.code)) throw fault;
    const error = boundError(`${fault.code}: ${fault.message}`);
    return { outcome: { kind: "refused", error }, healthy: null };
  }
  return { outcome: { kind: "done" }, healthy: true };
}

function changeIn(job: Job): StoredChange {
  try {
    return JSON.parse(new TextDecoder().decode(job.body)) as StoredChange;
  } catch (cause) {
    throw new AdbindError("job_unreadable", "a stored change is no JSON", { where: `event ${job.id}`, cause });
  }
}
