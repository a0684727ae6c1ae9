/** Jobs on SQLite as an operator sees them: listed, counted, sent again, dropped. */
import type { Database } from "better-sqlite3";
import { type JobRow, LISTED_BODY, type ListedRow, mayHoldOthers, toJobRecord, toListedJob } from "../job-rows.js";
import {
  BEHIND_DUE_MS,
  filterSql,
  type JobAdjustment,
  type JobCounts,
  type JobFilter,
  type JobRecord,
  type JobState,
  LIST_LIMIT_JOBS,
  type ListedJob,
  noJobs,
} from "../jobs.js";
import { JOB_BODY, type SqliteJobs } from "./sqlite-jobs.js";

export interface KeptJobs {
  list(filter: JobFilter): ListedJob[];
  get(id: number): JobRecord | undefined;
  replay(id: number, now: number): boolean;
  drop(id: number, meant: JobFilter, now: number): boolean;
  counts(topic: string): JobCounts;
  adjust(topic: string, what: JobAdjustment, now: number): number;
}

export function keptJobs(db: Database, jobs: SqliteJobs): KeptJobs {
  const { letNextGo, orderAnew, touch } = jobs;
  const one = db.prepare<[number], JobRow>(`select j.*, b.meta, b.body from adbind_jobs j ${JOB_BODY} where id = ?`);
  const revive = db.prepare<[number, number, number], JobRow>(
    "update adbind_jobs set state = 'ready', token = null, started_at = null, first_at = null, created_at = ?, error = null, " +
      `due = iif(ordering_key is null or attempts > 0, ?, ${BEHIND_DUE_MS}) ` +
      "where id = ? and state <> 'ready' returning *",
  );
  const first = db.prepare<[string, string], Pick<JobRow, "id" | "due">>(
    "select id, due from adbind_jobs where topic = ? and ordering_key = ? and state = 'ready' and attempts = 0 order by id limit 1",
  );
  const removeBody = db.prepare<[number]>("delete from adbind_job_bodies where job = ?");
  const counts = db.prepare<[string], { state: JobState; n: number }>(
    "select state, count(*) as n from adbind_jobs where topic = ? group by state",
  );
  return {
    list: (filter) => listJobs(db, filter),
    adjust: (topic, what, now) => adjustJobs(db, jobs, topic, what, now),
    get(id) {
      const row = one.get(id);
      return row && toJobRecord(row);
    },
    replay(id, now) {
      const row = revive.get(now, now, id);
      if (row === undefined) return false;
      if (row.ordering_key === null || row.attempts > 0) touch(row.topic, row.endpoint, now);
      else {
        // Where another goes first that lets it go as it ends, the rest is not looked through: it may be a hundred thousand.
        const head = first.get(row.topic, row.ordering_key)!;
        if (head.id === id || head.due === BEHIND_DUE_MS) orderAnew(row.topic, row.ordering_key, now);
      }
      return true;
    },
    drop(id, meant, now) {
      const { where, values } = filterSql(meant);
      const remove = db.prepare<(string | number)[], JobRow>(
        `delete from adbind_jobs where id = ? and ${where} returning *`,
      );
      const row = remove.get(id, ...values);
      if (row === undefined) return false;
      removeBody.run(id);
      if (mayHoldOthers(row)) letNextGo(row.topic, [{ orderingKey: row.ordering_key!, id }], now);
      return true;
    },
    counts(topic) {
      return { ...noJobs, ...Object.fromEntries(counts.all(topic).map((row) => [row.state, row.n])) };
    },
  };
}

function listJobs(db: Database, filter: JobFilter): ListedJob[] {
  const { where, values } = filterSql(filter);
  return db
    .prepare<(string | number)[], ListedRow>(
      `select j.*, ${LISTED_BODY} from adbind_jobs j ${JOB_BODY} where ${where} order by id limit ?`,
    )
    .all(...values, Math.min(filter.limit ?? LIST_LIMIT_JOBS, LIST_LIMIT_JOBS))
    .map(toListedJob);
}

function adjustJobs(db: Database, { touch }: SqliteJobs, topic: string, what: JobAdjustment, now: number): number {
  switch (what.kind) {
    case "hasten": {
      const row = db
        .prepare<[number, number, number], { endpoint: string }>(
          `update adbind_jobs set due = ? where id = ? and state = 'ready' and token is null and due > ?
            and due < ${BEHIND_DUE_MS} returning endpoint`,
        )
        .get(now, what.id, now);
      if (row !== undefined) touch(topic, row.endpoint, now);
      return row === undefined ? 0 : 1;
    }
    case "rehome": {
      const { changes } = db
        .prepare<[string, string, string, string]>(
          "update adbind_jobs set endpoint = ? where topic = ? and endpoint = ? and id in (select value from json_each(?))",
        )
        .run(what.to, topic, what.from, JSON.stringify(what.ids));
      if (changes > 0) touch(topic, what.to, now);
      return changes;
    }
  }
}
