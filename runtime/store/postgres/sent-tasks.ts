/**
 * Changes of a sender's tasks on PostgreSQL: one call of a function of the schema, whose parameters and whose answer are JSON as
 * text, which every library carries alike.
 */
import type { Coroutine } from "../../db/coroutine.js";
import { kept } from "../../db/postgres/kept.js";
import type { Query, Value } from "../../db/types.js";
import type { ChangeTasks, KeyspacesAsked, TasksFound, TasksWritten, TaskWrites } from "../sent-tasks.js";

const CHANGE = kept(
  "select adbind_change_tasks(?::text::json, ?::text::json, ?::text::boolean, ?::text, ?::text, ?::text::json, " +
    "?::text::json, ?::text::json, ?::text, ?::text::bigint, ?::text::json, ?::text, ?::text::boolean) as told, " +
    // What is hidden is not there, and fails nobody: a task that is not found may be.
    "row_security_active('adbind_sent_tasks')::text as filtered",
);

/** An empty list costs statements of its own: it is left out. */
const listed = (values: readonly unknown[] | undefined): string | null =>
  values === undefined || values.length === 0 ? null : JSON.stringify(values);

const heldOf = (here: KeyspacesAsked | undefined): Value[] =>
  here === undefined ? [null, null, null] : [here.kind, here.fence, JSON.stringify(here.names)];

function writesOf(writes: TaskWrites | undefined): Value[] {
  if (writes === undefined) return [null, null, null, null, null, null, null];
  const { changes, dedups, jobs } = writes;
  const added =
    jobs === undefined
      ? [null, null, null, null, null]
      : [jobs.topic, String(jobs.at), jobs.jobs, jobs.bodies, String(jobs.notifies)];
  return [JSON.stringify(changes), listed(dedups), ...added];
}

export const changeTasks: ChangeTasks = function* (
  query: Query,
  { taskIds, keyed, locking, writes, here },
): Coroutine<TasksWritten | TasksFound> {
  const [row] = yield* query.rows<{ told: string; filtered: string }>(CHANGE, [
    JSON.stringify(taskIds),
    listed(keyed),
    String(locking === "skip"),
    ...heldOf(here),
    ...writesOf(writes),
  ]);
  const { told, filtered } = row!;
  if (told === "" || told === "notified") return { notified: told !== "" };
  return { ...toFound(told), filtered: filtered === "true" };
};

interface SentTaskAnswer {
  readonly tasks: TasksFound["tasks"] | null;
  readonly known: readonly string[] | null;
  readonly dedups: TasksFound["dedups"] | null;
}

function toFound(told: string): TasksFound {
  const { tasks, known, dedups } = JSON.parse(told) as SentTaskAnswer;
  const here = new Set(tasks?.map((task) => task.task_id));
  return { tasks: tasks ?? [], elsewhere: (known ?? []).filter((id) => !here.has(id)), dedups: dedups ?? [] };
}
