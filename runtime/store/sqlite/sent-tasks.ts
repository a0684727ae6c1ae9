/** Changes of a sender's tasks on SQLite: transactions exclude each other, so that what was read is what is written to. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Columns, Query } from "../../db/types.js";
import type { ChangeTasks, DedupRow, SentTaskRow, TasksFound, TaskWrites } from "../sent-tasks.js";

const DEDUP_COLUMNS = [
  ["task_id", "text"],
  ["dedup_key", "text"],
  ["digest", "text"],
  ["keys", "text"],
  ["expires", "bigint"],
] as const satisfies Columns;

// One row at a time: taking values out of JSON costs more than the statements do.
export const changeTasks: ChangeTasks = function* (query: Query, { taskIds, keyed, writes }) {
  if (writes !== undefined) {
    yield* write(query, writes);
    return { notified: false };
  }
  const tasks: SentTaskRow[] = [];
  for (const id of taskIds)
    tasks.push(...(yield* query.rows<SentTaskRow>("select * from adbind_sent_tasks where task_id = ?", [id])));
  const dedups: DedupRow[] = [];
  const text = "select * from adbind_dedup where task_id = ? and dedup_key = ?";
  for (const { task_id, dedup_key } of keyed) dedups.push(...(yield* query.rows<DedupRow>(text, [task_id, dedup_key])));
  return { tasks, elsewhere: [], dedups } satisfies TasksFound;
};

function* write(query: Query, { changes, dedups, addJobs }: TaskWrites): Coroutine<void> {
  for (const { task_id, status, instant, revision, expires, prolongs } of changes) {
    const text = "update adbind_sent_tasks set status = ?, instant = ?, revision = ? where task_id = ?";
    yield* query.run(text, [status, instant, revision, task_id]);
    // Once a day, and apart: an index is written anew by an update that changes nothing, too.
    if (prolongs) yield* query.run("update adbind_sent_tasks set expires = ? where task_id = ?", [expires, task_id]);
  }
  const rows = dedups.map((row) => DEDUP_COLUMNS.map(([name]) => row[name]));
  if (rows.length > 0) yield* query.insert("adbind_dedup", DEDUP_COLUMNS, rows);
  yield* addJobs(query);
}
