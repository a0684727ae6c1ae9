/** Jobs on SQLite. Everything here runs inside a transaction the caller holds, and never waits. */
import type { Database } from "better-sqlite3";
import {
  BEHIND_DUE_MS,
  type GroupHealth,
  type Job,
  type JobCounts,
  type JobFilter,
  type JobRecord,
  type JobRow,
  type NewJob,
  opensLane,
  type Settlement,
  toJob,
  toJobRecord,
} from "../jobs.js";
import { LIST_LIMIT_ROWS } from "../rows.js";

export interface TakeSqlite {
  readonly topic: string;
  readonly claim: string;
  readonly now: number;
  /** End of the leases. */
  readonly until: number;
  readonly limit: number;
  /** How many more of a group may be out. */
  room(group: string): number;
}

export interface SqliteJobs {
  add(topic: string, jobs: readonly NewJob[], now: number): void;
  take(request: TakeSqlite): Job[];
  /** Answers, for each, whether its claim still held; only then anything was written. */
  settle(settlements: readonly Settlement[], now: number): boolean[];
  renew(jobs: readonly Job[], until: number): void;
  pause(topic: string, group: string, health: GroupHealth): void;
  health(topic: string, group: string): GroupHealth;
  /** Gives up jobs of a group whose first attempt, or else whose making, is older than `before`. */
  bury(topic: string, group: string, given: { before: number; now: number; error: string }): JobRecord[];
  /** Brings jobs and groups that lie beyond `horizon` to `now`: the clock has been set back. */
  pull(topic: string, horizon: number, now: number): number;
  list(filter: JobFilter): JobRecord[];
  get(id: number): JobRecord | undefined;
  replay(id: number, now: number): boolean;
  drop(id: number, now: number): boolean;
  counts(topic: string): JobCounts;
}

const BURY_LIMIT_ROWS = 500;

export function sqliteJobs(db: Database): SqliteJobs {
  const ready = "state = 'ready'";
  const insert = db.prepare<[string, string, number, string, string | null, number, number, string, Uint8Array]>(
    "insert into adbind_jobs (topic, key, random, grp, lane, state, due, created_at, meta, body) " +
      "values (?, ?, ?, ?, ?, 'ready', ?, ?, ?, ?)",
  );
  const before = db.prepare<[string, string]>(
    `select 1 from adbind_jobs where topic = ? and lane = ? and ${ready} and attempts = 0 limit 1`,
  );
  const touch = db.prepare<[string, string, number]>(
    "insert into adbind_groups (topic, grp, ready_at) values (?, ?, ?) on conflict do update set " +
      "ready_at = max(paused_until, min(ready_at, excluded.ready_at))",
  );
  const due = db.prepare<[string, string, number, number], JobRow>(
    `select * from adbind_jobs where topic = ? and grp = ? and ${ready} and due <= ? order by due, id limit ?`,
  );
  const next = db.prepare<[string, string], { due: number | null }>(
    `select min(due) as due from adbind_jobs where topic = ? and grp = ? and ${ready}`,
  );
  const groups = db.prepare<[string, number], { grp: string }>(
    "select grp from adbind_groups where topic = ? and ready_at <= ? order by ready_at",
  );
  const lease = db.prepare<[string, number, number, number, number]>(
    "update adbind_jobs set claim = ?, due = ?, started_at = ?, first_at = coalesce(first_at, ?) where id = ?",
  );
  const rest = db.prepare<[number, string, string]>(
    "update adbind_groups set ready_at = max(paused_until, ?) where topic = ? and grp = ?",
  );
  const forget = db.prepare<[string, string]>(
    "delete from adbind_groups where topic = ? and grp = ? and failing_since is null",
  );

  const leaveGroup = (topic: string, group: string, now: number): void => {
    const at = next.get(topic, group)!.due;
    if (at !== null) rest.run(Math.max(at, now), topic, group);
    else if (forget.run(topic, group).changes === 0) rest.run(BEHIND_DUE_MS, topic, group);
  };

  const take = (request: TakeSqlite): Job[] => {
    const { topic, claim, now, until } = request;
    const taken: Job[] = [];
    const served: string[] = [];
    // Groups first, rows after: a statement that is being read from must not see its own table change.
    for (const { grp } of groups.iterate(topic, now)) {
      if (request.room(grp) > 0) served.push(grp);
      if (served.length >= request.limit) break;
    }
    for (const group of served) {
      const left = request.limit - taken.length;
      if (left <= 0) break;
      for (const row of due.all(topic, group, now, Math.min(request.room(group), left))) {
        lease.run(claim, until, now, now, row.id);
        taken.push(toJob({ ...row, claim, due: until, started_at: now, first_at: row.first_at ?? now }));
      }
      leaveGroup(topic, group, now);
    }
    return taken;
  };

  const add = (topic: string, jobs: readonly NewJob[], now: number): void => {
    for (const { key, random = false, group, lane = null, due: at = now, meta, body } of jobs) {
      const behind = lane !== null && before.get(topic, lane) !== undefined;
      insert.run(topic, key, Number(random), group, lane, behind ? BEHIND_DUE_MS : at, now, meta, body);
      if (!behind) touch.run(topic, group, at);
    }
  };

  return { add, take, ...settling(db, touch), ...groupCare(db, touch), ...listing(db, touch) };
}

type Touch = { run(topic: string, group: string, readyAt: number): unknown };

/** Lets the next of a lane go once the one before it has been attempted, or is gone. */
const laneOpener = (db: Database, touch: Touch) => {
  const free = db.prepare<[number, string, string, number], { grp: string }>(
    "update adbind_jobs set due = ? where id = (select min(id) from adbind_jobs where topic = ? and lane = ? " +
      "and state = 'ready' and attempts = 0) and due = ? returning grp",
  );
  return (topic: string, lane: string, now: number): void => {
    const freed = free.get(now, topic, lane, BEHIND_DUE_MS);
    if (freed !== undefined) touch.run(topic, freed.grp, now);
  };
};

const settling = (db: Database, touch: Touch): Pick<SqliteJobs, "settle" | "renew"> => {
  const openLane = laneOpener(db, touch);
  const done = db.prepare<[number, string]>("delete from adbind_jobs where id = ? and claim = ?");
  const later = db.prepare<[number, string, number, string]>(
    "update adbind_jobs set claim = null, started_at = null, attempts = attempts + 1, due = ?, error = ? " +
      "where id = ? and claim = ?",
  );
  const back = db.prepare<[number, number, string]>(
    "update adbind_jobs set claim = null, started_at = null, due = ?, " +
      "first_at = case attempts when 0 then null else first_at end where id = ? and claim = ?",
  );
  const dead = db.prepare<[string, number, string]>(
    "update adbind_jobs set state = 'dead', claim = null, started_at = null, attempts = attempts + 1, error = ? " +
      "where id = ? and claim = ?",
  );
  const prolong = db.prepare<[number, number, string]>("update adbind_jobs set due = ? where id = ? and claim = ?");
  const apply = ({ job, verdict }: Settlement): boolean => {
    switch (verdict.kind) {
      case "done":
        return done.run(job.id, job.claim).changes === 1;
      case "later":
        return later.run(verdict.due, verdict.error, job.id, job.claim).changes === 1;
      case "back":
        return back.run(verdict.due, job.id, job.claim).changes === 1;
      case "dead":
        return dead.run(verdict.error, job.id, job.claim).changes === 1;
    }
  };
  return {
    settle: (settlements, now) =>
      settlements.map((settlement) => {
        const { job, verdict } = settlement;
        if (!apply(settlement)) return false;
        if ("due" in verdict) touch.run(job.topic, job.group, verdict.due);
        if (opensLane(settlement)) openLane(job.topic, job.lane!, now);
        return true;
      }),
    renew(jobs, until) {
      for (const { id, claim } of jobs) prolong.run(until, id, claim);
    },
  };
};

const groupCare = (db: Database, touch: Touch): Pick<SqliteJobs, "pause" | "health" | "bury" | "pull"> => {
  const openLane = laneOpener(db, touch);
  const pause = db.prepare(
    "insert into adbind_groups (topic, grp, ready_at, paused_until, failing_since) values (?, ?, ?, ?, ?) " +
      "on conflict do update set paused_until = excluded.paused_until, failing_since = excluded.failing_since, " +
      "ready_at = excluded.ready_at",
  );
  const find = db.prepare<[string, string], { paused_until: number; failing_since: number | null }>(
    "select paused_until, failing_since from adbind_groups where topic = ? and grp = ?",
  );
  // A claim whose lease has ended is nobody's.
  const old = db.prepare<[string, string, number, number, number, number], JobRow>(
    "select * from adbind_jobs where topic = ? and grp = ? and state = 'ready' and due < ? and (claim is null or due <= ?) " +
      "and coalesce(first_at, created_at) <= ? order by due limit ?",
  );
  const dead = db.prepare<[string, number]>(
    "update adbind_jobs set state = 'dead', claim = null, started_at = null, error = ? where id = ?",
  );
  const pullJobs = db.prepare<[number, string, number, number]>(
    "update adbind_jobs set due = ? where topic = ? and state = 'ready' and claim is null and due > ? and due < ?",
  );
  const pullGroups = db.prepare<[number, number, string, number, number]>(
    "update adbind_groups set ready_at = ?, paused_until = min(paused_until, ?) where topic = ? " +
      "and ready_at > ? and ready_at < ?",
  );
  return {
    pause(topic, group, { pausedUntil, failingSince }) {
      pause.run(topic, group, pausedUntil, pausedUntil, failingSince);
    },
    health(topic, group) {
      const row = find.get(topic, group);
      return { pausedUntil: row?.paused_until ?? 0, failingSince: row?.failing_since ?? null };
    },
    bury(topic, group, { before, now, error }) {
      const rows = old.all(topic, group, BEHIND_DUE_MS, now, before, BURY_LIMIT_ROWS);
      for (const row of rows) {
        dead.run(error, row.id);
        if (row.lane !== null && row.attempts === 0) openLane(topic, row.lane, row.due);
      }
      return rows.map((row) => toJobRecord({ ...row, state: "dead", error }));
    },
    pull(topic, horizon, now) {
      pullGroups.run(now, now, topic, horizon, BEHIND_DUE_MS);
      return pullJobs.run(now, topic, horizon, BEHIND_DUE_MS).changes;
    },
  };
};

const listing = (db: Database, touch: Touch): Pick<SqliteJobs, "list" | "get" | "replay" | "drop" | "counts"> => {
  const openLane = laneOpener(db, touch);
  const one = db.prepare<[number], JobRow>("select * from adbind_jobs where id = ?");
  const revive = db.prepare<[number, number], JobRow>(
    "update adbind_jobs set state = 'ready', claim = null, started_at = null, first_at = null, due = ?, error = null " +
      "where id = ? and state = 'dead' returning *",
  );
  const remove = db.prepare<[number], JobRow>("delete from adbind_jobs where id = ? returning *");
  const counts = db.prepare<[string], { state: keyof JobCounts; n: number }>(
    "select state, count(*) as n from adbind_jobs where topic = ? group by state",
  );
  return {
    list({ topic, state, group, after = 0, limit = LIST_LIMIT_ROWS }) {
      const where = ["topic = ?", "id > ?", ...(state ? ["state = ?"] : []), ...(group ? ["grp = ?"] : [])];
      return db
        .prepare<(string | number)[], JobRow>(
          `select * from adbind_jobs where ${where.join(" and ")} order by id limit ?`,
        )
        .all(topic, after, ...(state ? [state] : []), ...(group ? [group] : []), Math.min(limit, LIST_LIMIT_ROWS))
        .map(toJobRecord);
    },
    get(id) {
      const row = one.get(id);
      return row && toJobRecord(row);
    },
    replay(id, now) {
      const row = revive.get(now, id);
      if (row !== undefined) touch.run(row.topic, row.grp, now);
      return row !== undefined;
    },
    drop(id, now) {
      const row = remove.get(id);
      if (row?.lane != null && row.attempts === 0) openLane(row.topic, row.lane, now);
      return row !== undefined;
    },
    counts(topic) {
      return { ready: 0, dead: 0, ...Object.fromEntries(counts.all(topic).map((row) => [row.state, row.n])) };
    },
  };
};
