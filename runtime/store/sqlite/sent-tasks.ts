/** Changes of a sender's tasks on SQLite: transactions exclude each other, so that what was read is what is written to. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import type { ChangeTasks, DedupRow, SentTaskRow, TasksFound, TaskWrites } from "../sent-tasks.js";

const json = (value: unknown): string => JSON.stringify(value);

export const changeTasks: ChangeTasks = function* (query: Query, { taskIds, keyed, writes }) {
  if (writes !== undefined) {
    yield* write(query, writes);
    return { notified: false };
  }
  const tasks = yield* query.rows<SentTaskRow>(
    "select * from adbind_sent_tasks where task_id in (select value from json_each(?))",
    [json(taskIds)],
  );
  const names = keyed.map(({ task_id, dedup_key }) => [task_id, dedup_key]);
  const text =
    "select d.* from json_each(?) k join adbind_dedup d on d.task_id = k.value ->> 0 and d.dedup_key = k.value ->> 1";
  const dedups = names.length === 0 ? [] : yield* query.rows<DedupRow>(text, [json(names)]);
  return { tasks, elsewhere: [], dedups } satisfies TasksFound;
};

function* write(query: Query, { changes, dedups, addJobs }: TaskWrites): Coroutine<void> {
  if (changes.length > 0) {
    const rows = json(changes);
    yield* query.run(
      "update adbind_sent_tasks set status = c.value ->> 'status', instant = c.value ->> 'instant', " +
        "revision = c.value ->> 'revision' from json_each(?) c where task_id = c.value ->> 'task_id'",
      [rows],
    );
    // Once a day, and apart: an index is written anew by an update that changes nothing, too.
    yield* query.run(
      "update adbind_sent_tasks set expires = c.value ->> 'expires' from json_each(?) c " +
        "where task_id = c.value ->> 'task_id' and expires <> c.value ->> 'expires'",
      [rows],
    );
  }
  if (dedups.length > 0) {
    yield* query.run(
      "insert into adbind_dedup (task_id, dedup_key, digest, keys, expires) select value ->> 'task_id', " +
        "value ->> 'dedup_key', value ->> 'digest', value ->> 'keys', value ->> 'expires' from json_each(?)",
      [json(dedups)],
    );
  }
  yield* addJobs(query);
}
