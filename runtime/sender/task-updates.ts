/** Changes of tasks, several in one transaction: each is judged by what those before it made of its task. */
import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Coroutine, Locking, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { type EachWork, lockedElsewhere } from "../queue/each.js";
import type { DedupRow, SentTaskRow, TaskChange } from "../store/sender-tables.js";
import { type Delivery, enqueue } from "./outbox.js";
import { changeOf, TASK_RETENTION_MS, type TaskParts } from "./task-events.js";
import type { Emitted, StatusChange } from "./types.js";

/** A change that is asked for. */
export interface Update {
  readonly taskId: string;
  readonly change: StatusChange;
  readonly dedupKey: string | undefined;
}

/** What the changes of one transaction have come to so far. */
interface Progress {
  readonly tasks: Map<string, SentTaskRow>;
  readonly changed: Map<string, TaskChange>;
  readonly made: Delivery[];
  /** Events under dedup keys, by task and key. */
  readonly dedups: Map<string, DedupRow>;
  readonly newDedups: DedupRow[];
}

export const updateWork =
  (parts: TaskParts): EachWork<Update, Emitted> =>
  (query, updates, locking) =>
    updateFlow(parts, query, updates, locking);

/** The events of all are written together. */
function* updateFlow(
  parts: TaskParts,
  query: Query,
  updates: readonly Update[],
  locking: Locking,
): Coroutine<PromiseSettledResult<Emitted>[]> {
  const { tables, queue } = parts;
  const ids = [...new Set(updates.map(({ taskId }) => taskId))];
  const rows = yield* tables.tasks(query, ids, locking);
  const tasks = new Map(rows.map((row) => [row.task_id, row]));
  const locked = yield* heldElsewhere(
    parts,
    query,
    locking,
    ids.filter((id) => !tasks.has(id)),
  );
  const dedups = yield* knownDedups(parts, query, updates);
  const progress: Progress = { tasks, changed: new Map(), made: [], dedups, newDedups: [] };
  const results = updates.map((update): PromiseSettledResult<Emitted> => {
    if (locked.has(update.taskId)) return { status: "rejected", reason: lockedElsewhere };
    try {
      return { status: "fulfilled", value: applied(parts, progress, update) };
    } catch (reason) {
      return { status: "rejected", reason };
    }
  });
  if (progress.changed.size > 0) yield* tables.setTasks(query, [...progress.changed.values()]);
  if (progress.newDedups.length > 0) yield* tables.addDedups(query, progress.newDedups);
  yield* enqueue(queue, query, progress.made);
  return results;
}

/** Tasks that were left out because another transaction holds them: not those that there are none of. */
function* heldElsewhere(
  { tables }: TaskParts,
  query: Query,
  locking: Locking,
  missing: readonly string[],
): Coroutine<Set<string>> {
  if (locking === "wait" || missing.length === 0) return new Set();
  return new Set((yield* tables.knownTasks(query, missing)).map((row) => row.task_id));
}

const nameOf = (taskId: string, dedupKey: string): string => JSON.stringify([taskId, dedupKey]);

function* knownDedups(
  { tables }: TaskParts,
  query: Query,
  updates: readonly Update[],
): Coroutine<Map<string, DedupRow>> {
  const keyed = updates.filter(({ dedupKey }) => dedupKey !== undefined);
  if (keyed.length === 0) return new Map();
  const ids = new Set(keyed.map(({ taskId }) => taskId));
  const keys = new Set(keyed.map(({ dedupKey }) => dedupKey!));
  const rows = yield* tables.dedups(query, [...ids], [...keys]);
  return new Map(rows.map((row) => [nameOf(row.task_id, row.dedup_key), row]));
}

function applied(parts: TaskParts, progress: Progress, { taskId, change, dedupKey }: Update): Emitted {
  const task = progress.tasks.get(taskId);
  if (task === undefined) return { keys: [] };
  if (dedupKey === undefined) return { keys: made(parts, progress, task, change) };
  const digest = digestOf(change);
  const known = progress.dedups.get(nameOf(taskId, dedupKey));
  if (known === undefined) {
    const keys = made(parts, progress, task, change);
    const expires = parts.now() + TASK_RETENTION_MS;
    const row: DedupRow = { task_id: taskId, dedup_key: dedupKey, digest, keys: JSON.stringify(keys), expires };
    progress.dedups.set(nameOf(taskId, dedupKey), row);
    progress.newDedups.push(row);
    return { keys };
  }
  if (known.digest === digest) return { keys: JSON.parse(known.keys) as string[] };
  throw new AdbindError("dedup_conflict", `the dedup key ${dedupKey} was used for another change`, {
    where: `task ${taskId}`,
    remedy: "use a key of its own for each change, and the same content when it is repeated",
  });
}

/** @returns the keys of its events */
function made(parts: TaskParts, progress: Progress, task: SentTaskRow, change: StatusChange): string[] {
  const { next, deliveries } = changeOf(parts, task, change);
  progress.tasks.set(task.task_id, { ...task, ...next });
  progress.changed.set(task.task_id, next);
  progress.made.push(...deliveries);
  return deliveries.map(({ key }) => key);
}

/** The same for the same content, however its members are ordered. */
const digestOf = ({ status, result, message }: StatusChange): string =>
  hash("sha256", canonicalize({ status, result: result ?? null, message: message ?? null }) ?? "", "base64url");
