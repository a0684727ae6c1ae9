/** What became of leased jobs on SQLite, and leases prolonged. */
import type { Database } from "better-sqlite3";
import { type Ack, type JobState, letsNextGo, movedTo, waitsInOrder } from "../jobs.js";
import { type Basics, READY, type SqliteJobs, UNHELD } from "./sqlite-jobs.js";

const isDone = ({ outcome }: Ack): boolean => outcome.kind === "done";

/** For what is not done: answers its endpoint now, which is another one where it was moved while it was under way. */
function keeping(db: Database): (ack: Ack, now: number) => string | undefined {
  type Kept = readonly [JobState, number, number, number, string | null, string | null, number, string];
  const kept = db.prepare<[...Kept], { endpoint: string }>(
    "update adbind_jobs set token = null, started_at = null, state = ?, attempts = attempts + ?, " +
      "first_at = case when ? = 0 and (attempts = 0 or first_at = started_at) then null else first_at end, due = ?, " +
      "error = coalesce(?, error), endpoint = coalesce(?, endpoint) where id = ? and token = ? returning endpoint",
  );
  return (ack, now) => {
    const { job, outcome } = ack;
    const state = outcome.kind === "dead" || outcome.kind === "refused" ? outcome.kind : "ready";
    const counted = Number(outcome.kind === "later" || outcome.kind === "dead");
    const due = "due" in outcome ? outcome.due : now;
    const error = "error" in outcome ? outcome.error : null;
    return kept.get(state, counted, counted, due, error, movedTo(ack), job.id, job.token)?.endpoint;
  };
}

export function acknowledging(
  db: Database,
  { letNextGo, orderAnew, touch }: Basics,
): Pick<SqliteJobs, "ack" | "renew"> {
  const done = db.prepare<[string], { id: number }>(
    "delete from adbind_jobs where id in (select j.id from json_each(?) v cross join adbind_jobs j " +
      "on j.id = v.value ->> 0 and j.token = v.value ->> 1) returning id",
  );
  const doneBodies = db.prepare<[string]>(
    "delete from adbind_job_bodies where job in (select value from json_each(?))",
  );
  const keep = keeping(db);
  const move = db.prepare<[string, string, string, number, string]>(
    `update adbind_jobs set endpoint = ? where topic = ? and ordering_key = ? and ${READY} and attempts = 0 ` +
      `and ${UNHELD} and endpoint = ?`,
  );
  const prolong = db.prepare<[number, number, string]>("update adbind_jobs set due = ? where id = ? and token = ?");
  /** In one statement: a call of a statement costs more than what it does here, and most attempts end so. */
  const remove = (acks: readonly Ack[]): number[] => {
    const ids = done.all(JSON.stringify(acks.map(({ job }) => [job.id, job.token]))).map(({ id }) => id);
    doneBodies.run(JSON.stringify(ids));
    return ids;
  };
  return {
    ack(acks, now) {
      const removed = new Set(remove(acks.filter(isDone)));
      const places = acks.map((ack) => (isDone(ack) ? undefined : keep(ack, now)));
      const held = acks.map((ack, at) => (isDone(ack) ? removed.has(ack.job.id) : places[at] !== undefined));
      const written = acks.filter((_, at) => held[at]);
      for (const [at, ack] of acks.entries()) {
        if (places[at] === undefined) continue;
        const { job, outcome } = ack;
        const moved = movedTo(ack);
        if (moved !== null && job.orderingKey !== null) move.run(moved, job.topic, job.orderingKey, now, job.endpoint);
        if ("due" in outcome) touch(job.topic, places[at], outcome.due);
        if (waitsInOrder(ack)) orderAnew(job.topic, job.orderingKey!, now);
      }
      const over = written.filter(letsNextGo).map(({ job }) => job);
      // All of one queue's.
      if (over.length > 0)
        letNextGo(
          over[0]!.topic,
          over.map(({ orderingKey, id }) => ({ orderingKey: orderingKey!, id })),
          now,
        );
      return held;
    },
    renew: (jobs, until) =>
      new Set(jobs.filter(({ id, token }) => prolong.run(until, id, token).changes === 1).map(({ id }) => id)),
  };
}
