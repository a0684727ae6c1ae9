/** What became of leased jobs on SQLite, and leases prolonged. */
import type { Database } from "better-sqlite3";
import { type Ack, type JobState, letsNextGo, movedTo } from "../jobs.js";
import { type Basics, READY, type SqliteJobs } from "./sqlite-jobs.js";

export function acknowledging(db: Database, { letNextGo, touch }: Basics): Pick<SqliteJobs, "ack" | "renew"> {
  const done = db.prepare<[number, string]>("delete from adbind_jobs where id = ? and token = ?");
  const doneBody = db.prepare<[number]>("delete from adbind_job_bodies where job = ?");
  const kept = db.prepare<[JobState, number, number, number | null, string | null, string | null, number, string]>(
    "update adbind_jobs set token = null, started_at = null, state = ?, attempts = attempts + ?, " +
      "first_at = case when ? = 0 and attempts = 0 then null else first_at end, due = coalesce(?, due), " +
      "error = coalesce(?, error), endpoint = coalesce(?, endpoint) where id = ? and token = ?",
  );
  const move = db.prepare<[string, string, string, string]>(
    `update adbind_jobs set endpoint = ? where topic = ? and ordering_key = ? and ${READY} and attempts = 0 ` +
      "and token is null and endpoint = ?",
  );
  const prolong = db.prepare<[number, number, string]>("update adbind_jobs set due = ? where id = ? and token = ?");
  const apply = (ack: Ack): boolean => {
    const { job, outcome } = ack;
    if (outcome.kind === "done") {
      const ours = done.run(job.id, job.token).changes === 1;
      if (ours) doneBody.run(job.id);
      return ours;
    }
    const state = outcome.kind === "dead" || outcome.kind === "refused" ? outcome.kind : "ready";
    const counted = Number(outcome.kind === "later" || outcome.kind === "dead");
    const due = "due" in outcome ? outcome.due : null;
    const error = "error" in outcome ? outcome.error : null;
    return kept.run(state, counted, counted, due, error, movedTo(ack), job.id, job.token).changes === 1;
  };
  return {
    ack: (acks, now) =>
      acks.map((ack) => {
        const { job, outcome } = ack;
        if (!apply(ack)) return false;
        const moved = movedTo(ack);
        if (moved !== null && job.orderingKey !== null) move.run(moved, job.topic, job.orderingKey, job.endpoint);
        if ("due" in outcome) touch(job.topic, moved ?? job.endpoint, outcome.due);
        if (letsNextGo(ack)) letNextGo(job.topic, job.orderingKey!, now);
        return true;
      }),
    renew: (jobs, until) =>
      new Set(jobs.filter(({ id, token }) => prolong.run(until, id, token).changes === 1).map(({ id }) => id)),
  };
}
