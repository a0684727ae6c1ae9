/**
 * Changes of a sender's tasks on PostgreSQL: one statement locks the tasks, looks whether each is what its change was made
 * from, and writes tasks, dedup keys and jobs if all are. In one of several databases the same statement holds the keyspaces
 * first. Its parameters and its answer are JSON as text, which every library carries alike.
 */
import type { Coroutine } from "../../db/coroutine.js";
import { kept } from "../../db/postgres/kept.js";
import type { Locking, Query, SqlPart } from "../../db/types.js";
import type { ChangeTasks, KeyspacesAsked, TasksFound, TaskWrites } from "../sent-tasks.js";

const json = (value: unknown): string => JSON.stringify(value);

/** Parts of one statement, in their order: the `?` of each stand for its values. */
const joined = (parts: readonly SqlPart[]): SqlPart => ({
  text: parts.map(({ text }) => text).join(",\n"),
  values: parts.flatMap(({ values }) => values),
});

/**
 * Holds keyspaces as `shareKeyspaces` does. A row that was changed since the statement began is read again when it is locked
 * (READ COMMITTED), and its state with it, which is why that is no condition of an outer query: what has been moved away in between is
 * not held. A row that somebody is changing is not waited for: the tasks of others are in the same statement.
 */
const held = ({ kind, fence, names }: KeyspacesAsked): SqlPart => ({
  text: `held as materialized (select k.state = 'here' and not exists (
        select from adbind_keyspaces f where f.kind = ? and f.name = k.name) as here
      from adbind_keyspaces k where k.kind = ? and k.name = any(array(select json_array_elements_text(?::text::json)))
      order by k.name for share of k skip locked),
    owned as materialized (select count(*) filter (where here) = ?::int as here from held)`,
  values: [fence, kind, json(names), names.length],
});

/** The question of `held` is asked first: whoever moves a keyspace has its row before those of its tasks. */
const locked = (taskIds: readonly string[], locking: Locking, asks: boolean): SqlPart => ({
  text: `asked as materialized (select array(select json_array_elements_text(?::text::json)) as ids),
    locked as materialized (select * from adbind_sent_tasks where task_id = any((select ids from asked)::text[])
      ${asks ? "and (select here from owned)" : ""} order by task_id for update${locking === "skip" ? " skip locked" : ""})`,
  values: [json(taskIds)],
});

/** An empty list costs a plan of its own: it is left out. */
const written = ({ changes, dedups, jobsIf }: TaskWrites, asks: boolean): SqlPart[] => {
  const fresh = dedups.length > 0;
  const unknown = "and not exists (select from adbind_dedup d join fresh f using (task_id, dedup_key))";
  const jobs = jobsIf?.("(select applied from fit)");
  return [
    {
      text: `made as materialized (select * from json_to_recordset(?::text::json) as m (
        task_id text, was bigint, status text, instant text, expires bigint, revision bigint))`,
      values: [json(changes)],
    },
    ...(fresh
      ? [
          {
            text: `fresh as materialized (select * from json_to_recordset(?::text::json) as f (
              task_id text, dedup_key text, digest text, keys text, expires bigint))`,
            values: [json(dedups)],
          },
        ]
      : []),
    {
      text: `fit as materialized (select (select count(*) from made m join locked l
          on l.task_id = m.task_id and l.revision = m.was) = ?::int ${asks ? "and (select here from owned)" : ""}
          ${fresh ? unknown : ""} as applied),
        changed as (update adbind_sent_tasks t set status = m.status, instant = m.instant, expires = m.expires,
          revision = m.revision from made m where (select applied from fit) and t.task_id = m.task_id)`,
      values: [changes.length],
    },
    ...(fresh
      ? [
          {
            text: `named as (insert into adbind_dedup (task_id, dedup_key, digest, keys, expires)
              select task_id, dedup_key, digest, keys, expires from fresh where (select applied from fit))`,
            values: [],
          },
        ]
      : []),
    ...(jobs === undefined ? [] : [jobs]),
  ];
};

const KEYED = `(select json_agg(d) from adbind_dedup d join json_to_recordset(?::text::json)
  as k (task_id text, dedup_key text) using (task_id, dedup_key))`;

/** One row, one text: see `foreign.ts`. */
export const changeTasks: ChangeTasks = function* (
  query: Query,
  { taskIds, keyed, locking, writes, here },
): Coroutine<"written" | TasksFound> {
  const asks = here !== undefined;
  const parts = joined([
    ...(asks ? [held(here)] : []),
    locked(taskIds, locking, asks),
    ...(writes === undefined ? [] : written(writes, asks)),
  ]);
  const found = `json_build_object('tasks', (select json_agg(l) from locked l),
    'known', (select json_agg(task_id) from adbind_sent_tasks where task_id = any((select ids from asked)::text[])),
    'dedups', ${keyed.length > 0 ? KEYED : "null"})::text`;
  const answer = writes === undefined ? found : `case when (select applied from fit) then '' else ${found} end`;
  // A dozen texts in all, and planning one takes three times as long as running it.
  const text = kept(`with ${parts.text} select ${answer} as told`);
  const [row] = yield* query.rows<{ told: string }>(text, [
    ...parts.values,
    ...(keyed.length > 0 ? [json(keyed)] : []),
  ]);
  return row!.told === "" ? "written" : toFound(row!.told);
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
