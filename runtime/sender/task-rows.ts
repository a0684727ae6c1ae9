/** Tasks as they are registered: their rows, and the secrets of their channels. */
import type { JsonObject } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { MAX_DEPTH_LEVELS } from "../json.js";
import type { SecretRow } from "../store/sender-secrets.js";
import type { NewTaskRow } from "../store/sender-tables.js";
import { newRevision } from "../store/sent-tasks.js";
import type { HeldChannels } from "./buy-configs.js";
import { nestsDeeper } from "./envelope.js";
import { checkId, checkStorableNames } from "./ids.js";
import { taskEndpoints } from "./registered-secrets.js";
import { refused } from "./registration.js";
import { reportingChannel, taskChannel } from "./task-channels.js";
import type { TaskDetails } from "./task-details.js";
import { type SenderTaskDependencies, taskExpires } from "./task-events.js";
import { checkTimes } from "./times.js";
import type { Registered, TaskChannels, TaskStart } from "./types.js";

/** Most bytes of a caller's `context` that its events repeat: a quarter of what receivers take. */
const MAX_CONTEXT_BYTES = 262_144;
/** Most levels of it: an event of A2A has it within two more. */
const MAX_CONTEXT_LEVELS = MAX_DEPTH_LEVELS - 2;

/** What a caller has given may not keep his task's changes from being stored. */
function isRepeatable({ rules }: SenderTaskDependencies, taskId: string, context: JsonObject | undefined): boolean {
  if (context === undefined) return true;
  const json = JSON.stringify(context);
  const large = Buffer.byteLength(json) > MAX_CONTEXT_BYTES;
  if (!large && !nestsDeeper(json, MAX_CONTEXT_LEVELS)) return true;
  const why = large ? `larger than ${MAX_CONTEXT_BYTES} bytes` : `deeper than ${MAX_CONTEXT_LEVELS} levels`;
  rules.tell({ taskId }, `events of this task repeat no context: it is ${why}`);
  return false;
}

/** A task with the secrets of its channels. */
export interface SealedTask {
  readonly row: NewTaskRow;
  readonly secrets: readonly SecretRow[];
}

export function newTask(
  parts: SenderTaskDependencies,
  start: TaskStart,
  channels: TaskChannels & HeldChannels,
): SealedTask {
  const { now } = parts;
  const { taskId, context, contextId, release } = start;
  checkId("taskId", taskId);
  checkStorableNames({ principal: start.principal });
  // One operation, whichever way it is told of.
  const operation = channels.push?.operation_id;
  const push = channels.push && taskChannel(parts, start, { via: "push", config: channels.push, operation });
  const a2a = channels.a2a && taskChannel(parts, start, { via: "a2a", config: channels.a2a, operation });
  const reporting = channels.reporting && reportingChannel(parts, start, channels.reporting);
  const details: TaskDetails = {
    ...(reporting !== undefined && { reporting: reporting.stored }),
    ...(push !== undefined && { push: push.stored }),
    ...(a2a !== undefined && { a2a: a2a.stored }),
    ...(isRepeatable(parts, taskId, context) && { context }),
    ...(contextId !== undefined && { contextId }),
    ...(release !== undefined && { release }),
  };
  const at = start.at ?? now();
  checkTimes({ at });
  const row: NewTaskRow = {
    task_id: taskId,
    principal: start.principal,
    tool: start.tool,
    status: start.status,
    instant: new Date(at).toISOString(),
    details: JSON.stringify(details),
    expires: taskExpires(now()),
    revision: newRevision(),
    ...taskEndpoints(start.principal, details),
  };
  return { row, secrets: [push?.row, a2a?.row, reporting?.row].filter((one) => one !== undefined) };
}

/** Secrets stored in one statement. */
const SECRETS_LIMIT = 64;

export function* registerFlow(
  { tables, known }: SenderTaskDependencies,
  tx: Query,
  tasks: readonly SealedTask[],
): Coroutine<PromiseSettledResult<Registered>[]> {
  const rows = tasks.map(({ row }) => row);
  const added = new Set((yield* tables.addTasks(tx, rows)).map((row) => row.task_id));
  // Of several under one id the first was added.
  const first = new Map(tasks.toReversed().map((task) => [task.row.task_id, task]));
  const secrets = [...first.values()].flatMap((task) => (added.has(task.row.task_id) ? task.secrets : []));
  for (let at = 0; at < secrets.length; at += SECRETS_LIMIT)
    yield* tables.putSecrets(tx, secrets.slice(at, at + SECRETS_LIMIT));
  const before = rows.filter((row) => !added.has(row.task_id)).map((row) => row.task_id);
  for (const row of rows.toReversed()) if (added.has(row.task_id)) known?.note(row);
  const owners = new Map([...first].map(([id, { row }]) => [id, row.principal]));
  if (before.length > 0) {
    for (const { task_id, principal } of yield* tables.knownTasks(tx, before)) owners.set(task_id, principal);
  }
  return rows.map(({ task_id, principal }) => ({
    status: "fulfilled",
    value: owners.get(task_id) === principal ? { ok: true, registered: true } : taken,
  }));
}

/** What a caller is told of another principal's task: by its id it cannot be had, and whose it is nobody learns. */
const taken = refused("there is a task of this id already", "task_id", "CONFLICT");
export const noSuchTask = refused("there is no such task", "task_id", "REFERENCE_NOT_FOUND");
