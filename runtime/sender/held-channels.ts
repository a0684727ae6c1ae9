/** What is registered with a task for the media buy that it makes: kept with the task, and its secrets with those of the task's. */
import type { Coroutine, Query } from "../db/index.js";
import { oneOf } from "../queue/each.js";
import type { HeldChannels, ReportingWebhook } from "./buy-configs.js";
import { openConfig, taskRegistration } from "./registered-config.js";
import { taskEndpoints } from "./registered-secrets.js";
import { reportingChannel } from "./task-channels.js";
import { type TaskDetails, taskDetailsOf } from "./task-details.js";
import type { SenderTaskDependencies } from "./task-events.js";
import { newTask, noSuchTask, registerFlow } from "./task-rows.js";
import type { Registered, TaskStart } from "./types.js";

export function* holdFlow(
  parts: SenderTaskDependencies,
  tx: Query,
  start: TaskStart,
  reporting: ReportingWebhook,
): Coroutine<Registered> {
  const { tables } = parts;
  const { taskId } = start;
  const [row] = yield* tables.task(tx, taskId);
  if (row === undefined) return oneOf(yield* registerFlow(parts, tx, [newTask(parts, start, { reporting })]));
  if (row.principal !== start.principal) return noSuchTask;
  const made = reportingChannel(parts, start, reporting);
  const details: TaskDetails = { ...taskDetailsOf(row), reporting: made.stored };
  yield* tables.setTaskDetails(tx, taskId, JSON.stringify(details), taskEndpoints(row.principal, details));
  if (made.row === undefined) yield* tables.dropSecrets(tx, [taskRegistration("reporting", taskId)]);
  else yield* tables.putSecrets(tx, [made.row]);
  return { ok: true, registered: true };
}

export function* heldIn(
  { tables, keyring, rules }: SenderTaskDependencies,
  tx: Query,
  taskId: string,
): Coroutine<HeldChannels> {
  const [row] = yield* tables.task(tx, taskId);
  if (row === undefined) return {};
  const { principal } = row;
  const details = taskDetailsOf(row);
  const found: Record<string, unknown> = {};
  for (const via of ["push", "reporting"] as const) {
    const stored = details[via];
    if (stored === undefined) continue;
    const registration = taskRegistration(via, taskId);
    const [box] = stored.sealed === true ? yield* tables.secretsOf(tx, [registration]) : [];
    const opened = openConfig(keyring, stored, box, { principal, registration });
    if (opened.ok) found[via] = opened.config;
    else rules.tell({ taskId }, `nothing is sent of the media buy to where its task was told of: ${opened.why}`);
  }
  return found;
}
