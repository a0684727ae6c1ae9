/** Jobs on SQLite as an operator sees them: listed, counted, sent again, dropped. */
import type { Database } from "better-sqlite3";
import {
  type JobCounts,
  type JobFilter,
  type JobRecord,
  type JobRow,
  type JobState,
  LIST_LIMIT_JOBS,
  noJobs,
  toJobRecord,
} from "../jobs.js";
import { BODY } from "./jobs.js";
import type { SqliteJobs } from "./sqlite-jobs.js";

export interface KeptJobs {
  list(filter: JobFilter): JobRecord[];
  get(id: number): JobRecord | undefined;
  replay(id: number, now: number): boolean;
  drop(id: number, now: number): boolean;
  counts(topic: string): JobCounts;
}

export function keptJobs(db: Database, { letNextGo, touch }: SqliteJobs): KeptJobs {
  const one = db.prepare<[number], JobRow>(`select j.*, b.meta, b.body from adbind_jobs j ${BODY} where id = ?`);
  const revive = db.prepare<[number, number, number], JobRow>(
    "update adbind_jobs set state = 'ready', token = null, started_at = null, first_at = null, due = ?, created_at = ?, " +
      "error = null where id = ? and state <> 'ready' returning *",
  );
  const remove = db.prepare<[number], JobRow>("delete from adbind_jobs where id = ? returning *");
  const removeBody = db.prepare<[number]>("delete from adbind_job_bodies where job = ?");
  const counts = db.prepare<[string], { state: JobState; n: number }>(
    "select state, count(*) as n from adbind_jobs where topic = ? group by state",
  );
  return {
    list: (filter) => listJobs(db, filter),
    get(id) {
      const row = one.get(id);
      return row && toJobRecord(row);
    },
    replay(id, now) {
      const row = revive.get(now, now, id);
      if (row !== undefined) touch(row.topic, row.endpoint, now);
      return row !== undefined;
    },
    drop(id, now) {
      const row = remove.get(id);
      removeBody.run(id);
      if (row?.ordering_key != null && row.attempts === 0) letNextGo(row.topic, row.ordering_key, now);
      return row !== undefined;
    },
    counts(topic) {
      return { ...noJobs, ...Object.fromEntries(counts.all(topic).map((row) => [row.state, row.n])) };
    },
  };
}

function listJobs(
  db: Database,
  { topic, state, endpoint, after = 0, limit = LIST_LIMIT_JOBS }: JobFilter,
): JobRecord[] {
  const conditions: (readonly [text: string, ...values: (string | number)[]])[] = [["topic = ?", topic]];
  conditions.push(["id > ?", after]);
  if (state !== undefined) conditions.push(["state = ?", state]);
  if (endpoint !== undefined) conditions.push(["substr(endpoint, 1, length(?)) = ?", endpoint, endpoint]);
  const where = conditions.map(([text]) => text).join(" and ");
  return db
    .prepare<(string | number)[], JobRow>(
      `select j.*, b.meta, b.body from adbind_jobs j ${BODY} where ${where} order by id limit ?`,
    )
    .all(...conditions.flatMap(([, ...values]) => values), Math.min(limit, LIST_LIMIT_JOBS))
    .map(toJobRecord);
}
