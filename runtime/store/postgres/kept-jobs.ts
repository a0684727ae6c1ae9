/** Jobs as an operator sees them: listed, counted, sent again, dropped. */
import { sql } from "../../db/postgres/sql.js";
import { type JobCounts, type JobFilter, type JobRecord, type JobRow, toJobRecord } from "../jobs.js";
import { LIST_LIMIT_ROWS } from "../rows.js";
import { openLanes, touchGroups } from "./jobs.js";
import type { Db, Tx } from "./tables.js";

export async function listJobs(db: Db, filter: JobFilter): Promise<JobRecord[]> {
  const { topic, state, group, after = 0, limit = LIST_LIMIT_ROWS } = filter;
  const byState = state === undefined ? sql`` : sql` and state = ${state}`;
  const byGroup = group === undefined ? sql`` : sql` and grp = ${group}`;
  const rows = await sql<JobRow>`
    select * from adbind_jobs where topic = ${topic} and id > ${after}${byState}${byGroup}
    order by id limit ${Math.min(limit, LIST_LIMIT_ROWS)}`.rows(db);
  return rows.map(toJobRecord);
}

export async function getJob(db: Db, id: number): Promise<JobRecord | undefined> {
  const rows = await sql<JobRow>`select * from adbind_jobs where id = ${id}`.rows(db);
  return rows[0] && toJobRecord(rows[0]);
}

export async function replayJob(tx: Tx, topic: string, id: number, now: number): Promise<boolean> {
  const rows = await sql<{ grp: string }>`
    update adbind_jobs set state = 'ready', queued = false, first_at = null, due = ${now}, error = null
    where id = ${id} and state = 'dead' returning grp`.rows(tx);
  if (rows[0] !== undefined) await touchGroups(tx, topic, [{ group: rows[0].grp, at: now }]);
  return rows.length === 1;
}

export async function dropJob(tx: Tx, topic: string, id: number, now: number): Promise<boolean> {
  const rows = await sql<JobRow>`delete from adbind_jobs where id = ${id} returning *`.rows(tx);
  const row = rows[0];
  if (row?.lane != null && row.attempts === 0) await openLanes(tx, topic, [row.lane], now);
  return row !== undefined;
}

export async function countJobs(db: Db, topic: string): Promise<JobCounts> {
  const rows = await sql<{ state: keyof JobCounts; n: number }>`
    select state, count(*) as n from adbind_jobs where topic = ${topic} group by state`.rows(db);
  return { ready: 0, dead: 0, ...Object.fromEntries(rows.map((row) => [row.state, row.n])) };
}
