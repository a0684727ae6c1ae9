/** Jobs on SQLite. Everything here runs inside a transaction the caller holds, and never waits. */
import type { Database } from "better-sqlite3";
import type { JobRow } from "../job-rows.js";
import {
  BEHIND_DUE_MS,
  ENDPOINTS_SQL,
  type EndpointHealth,
  type EndpointRow,
  GIVE_UP_LIMIT_ROWS,
  type JobState,
  NOTED,
  toEndpointRecord,
  UNATTEMPTED,
  UNWELL_SQL,
} from "../jobs.js";
import { acknowledging } from "./acknowledging.js";
import { adding, redirecting } from "./adding.js";
import { type Basics, READY, type SqliteJobs, UNHELD } from "./sqlite-jobs.js";
import { taking } from "./taking.js";

export function sqliteJobs(db: Database): SqliteJobs {
  const base = basics(db);
  return {
    ...base,
    add: adding(db, base),
    redirect: redirecting(db, base),
    take: taking(db, base),
    ...acknowledging(db, base),
    ...endpointCare(db, base),
  };
}

/** What the others are made of. */
function basics(db: Database): Basics {
  const touched = db.prepare<[string, string, number]>(
    // An index is written anew by an update that changes nothing, too.
    "insert into adbind_endpoints (topic, endpoint, ready_at) values (?, ?, ?) on conflict do update set " +
      "ready_at = max(paused_until, min(ready_at, excluded.ready_at)) " +
      "where ready_at <> max(paused_until, min(ready_at, excluded.ready_at))",
  );
  // One that was replayed may be older than what is under way, and goes after it.
  const behind = db.prepare<[string, string], Pick<JobRow, "id" | "endpoint">>(
    "select j.id, j.endpoint from json_each(?) k cross join adbind_jobs j on j.id = (select min(id) from adbind_jobs " +
      `where topic = ? and ordering_key = k.key and ${READY} and attempts = 0) where j.due = ${BEHIND_DUE_MS} and ` +
      `(j.id > k.value or not exists (select 1 from adbind_jobs u where u.topic = j.topic and u.ordering_key = j.ordering_key and u.${READY} ` +
      "and u.attempts = 0 and u.token is not null))",
  );
  const free = db.prepare<[number, number]>("update adbind_jobs set due = ? where id = ?");
  const waiting = `topic = ? and ordering_key = ? and ${READY} and attempts = 0`;
  const hold = db.prepare<[string, string, number, string, string]>(
    `update adbind_jobs set due = ${BEHIND_DUE_MS}, token = null, started_at = null where ${waiting} ` +
      `and due <> ${BEHIND_DUE_MS} and ${UNHELD} ` +
      // Whatever the first waits for it waits for still.
      `and id > (select min(id) from adbind_jobs where ${waiting})`,
  );
  const touch = (topic: string, endpoint: string, readyAt: number): void => {
    touched.run(topic, endpoint, readyAt);
  };
  const letNextGo: Basics["letNextGo"] = (topic, ended, now) => {
    if (ended.length === 0) return;
    const last = new Map<string, number>();
    for (const { orderingKey, id = Number.MAX_SAFE_INTEGER } of ended)
      last.set(orderingKey, Math.max(last.get(orderingKey) ?? 0, id));
    const freed = behind.all(JSON.stringify(Object.fromEntries(last)), topic);
    for (const { id, endpoint } of freed) {
      free.run(now, id);
      touch(topic, endpoint, now);
    }
  };
  return {
    touch,
    letNextGo,
    orderAnew(topic, orderingKey, now) {
      hold.run(topic, orderingKey, now, topic, orderingKey);
      letNextGo(topic, [{ orderingKey }], now);
    },
  };
}

type EndpointCare = Pick<
  SqliteJobs,
  | "pause"
  | "recover"
  | "health"
  | "unwell"
  | "deadLetter"
  | "expire"
  | "expireBeyond"
  | "stop"
  | "stopped"
  | "resume"
  | "endpoints"
  | "pull"
>;

function endpointCare(db: Database, basic: Basics): EndpointCare {
  const pullJobs = db.prepare<[number, string, number, number]>(
    `update adbind_jobs set due = ? where topic = ? and ${READY} and token is null and due > ? and due < ?`,
  );
  const pullEndpoints = db.prepare<[number, number, string, number, number]>(
    `update adbind_endpoints set ready_at = iif(ready_at < ${BEHIND_DUE_MS}, ?, ready_at), paused_until = min(paused_until, ?) ` +
      `where topic = ? and (paused_until > ? or (ready_at > ? and ready_at < ${BEHIND_DUE_MS}))`,
  );
  // Whoever holds a lease that is alive renews it within its time.
  const pullLeased = db.prepare<[number, string, number], { endpoint: string }>(
    `update adbind_jobs set due = ? where topic = ? and ${READY} and token is not null and due > ? returning endpoint`,
  );
  const pullResumed = db.prepare<[number, string, number]>(
    "update adbind_endpoints set resumed_at = ? where topic = ? and resumed_at > ?",
  );
  const expire = ending(db, basic, { state: "expired", which: `${UNATTEMPTED} and created_at` });
  const excess = db
    .prepare<[string, string, number, number], number>(
      `select count(*) from (select 1 from adbind_jobs where topic = ? and endpoint = ? and ${READY} limit ? offset ?)`,
    )
    .pluck();
  return {
    ...operators(db),
    ...healths(db),
    expireBeyond(topic, endpoint, { keep, now, error }) {
      const limit = excess.get(topic, endpoint, GIVE_UP_LIMIT_ROWS, keep)!;
      return limit === 0 ? 0 : expire(topic, endpoint, { before: Number.MAX_SAFE_INTEGER, now, error, limit });
    },
    deadLetter: ending(db, basic, { state: "dead", which: "attempts > 0 and first_at" }),
    expire,
    pull(topic, { horizon, now, leased }) {
      pullEndpoints.run(now, now, topic, horizon, horizon);
      const held = pullLeased.all(leased, topic, leased);
      for (const endpoint of new Set(held.map((row) => row.endpoint))) basic.touch(topic, endpoint, leased);
      pullResumed.run(now, topic, now);
      return pullJobs.run(now, topic, horizon, BEHIND_DUE_MS).changes;
    },
  };
}

interface HealthRow {
  readonly paused_until: number;
  readonly failing_since: number | null;
}

/** What is noted of endpoints. */
function healths(db: Database): Pick<EndpointCare, "pause" | "recover" | "health" | "unwell"> {
  const pause = db.prepare<[string, string, number, number, number | null, number], HealthRow>(
    "insert into adbind_endpoints as e (topic, endpoint, ready_at, paused_until, failing_since) values (?, ?, ?, ?, ?) " +
      "on conflict do update set paused_until = max(e.paused_until, excluded.paused_until), " +
      "ready_at = max(e.paused_until, excluded.paused_until), failing_since = max(coalesce(e.resumed_at, 0), " +
      "min(coalesce(e.failing_since, excluded.failing_since), coalesce(excluded.failing_since, e.failing_since))) " +
      "where coalesce(e.resumed_at, 0) <= ? returning paused_until, failing_since",
  );
  const recover = db.prepare<[number, number, number, number, string, string]>(
    "update adbind_endpoints set paused_until = iif(min(paused_until, ?) <= ?, 0, min(paused_until, ?)), " +
      "ready_at = min(paused_until, ?), failing_since = null where topic = ? and endpoint = ?",
  );
  const find = db.prepare<[string, string], HealthRow>(
    "select paused_until, failing_since from adbind_endpoints where topic = ? and endpoint = ?",
  );
  const unwell = db.prepare<[string, number, number], string>(UNWELL_SQL).pluck();
  const toHealth = (row: HealthRow | undefined): EndpointHealth => ({
    pausedUntil: row?.paused_until ?? 0,
    failingSince: row?.failing_since ?? null,
  });
  return {
    pause: (topic, endpoint, { pausedUntil, failingSince, began }) =>
      toHealth(pause.get(topic, endpoint, pausedUntil, pausedUntil, failingSince, began) ?? find.get(topic, endpoint)),
    recover(topic, endpoint, { until, now }) {
      recover.run(until, now, until, until, topic, endpoint);
    },
    health: (topic, endpoint) => toHealth(find.get(topic, endpoint)),
    unwell: (topic, now, limit) => unwell.all(topic, now, limit),
  };
}

/** What operators do to endpoints. */
function operators(db: Database): Pick<EndpointCare, "stop" | "stopped" | "resume" | "endpoints"> {
  const stop = db.prepare<[string, string, number, number]>(
    "insert into adbind_endpoints (topic, endpoint, ready_at, stopped_at) values (?, ?, ?, ?) " +
      "on conflict do update set stopped_at = excluded.stopped_at",
  );
  const stopped = db
    .prepare<[string, string], string>(
      "select endpoint from adbind_endpoints where topic = ? and stopped_at is not null " +
        "and endpoint in (select value from json_each(?))",
    )
    .pluck();
  const resume = db.prepare<[number, string, string]>(
    "update adbind_endpoints set stopped_at = null, paused_until = 0, failing_since = null, ready_at = 0, resumed_at = ? " +
      `where topic = ? and endpoint = ? and ${NOTED}`,
  );
  const list = db.prepare<(string | number)[], EndpointRow>(ENDPOINTS_SQL);
  return {
    stop(topic, endpoint, now) {
      stop.run(topic, endpoint, BEHIND_DUE_MS, now);
    },
    stopped: (topic, endpoints) => stopped.all(topic, JSON.stringify(endpoints)),
    resume: (topic, endpoint, now) => resume.run(now, topic, endpoint).changes > 0,
    endpoints(topic, after, limit) {
      const page = [topic, after, limit];
      return list.all(...page, ...page, topic, topic, after, limit).map(toEndpointRecord);
    },
  };
}

/** Jobs of an endpoint that nobody holds end in a state. */
function ending(
  db: Database,
  { letNextGo }: Basics,
  { state, which }: { readonly state: JobState; readonly which: string },
): SqliteJobs["expire"] {
  const old = db.prepare<[string, string, number, number, number], Pick<JobRow, "id" | "ordering_key" | "attempts">>(
    `select id, ordering_key, attempts from adbind_jobs where topic = ? and endpoint = ? and ${READY} and ${which} <= ? ` +
      `and ${UNHELD} order by due, id limit ?`,
  );
  const end = db.prepare<[JobState, number, string, number]>(
    "update adbind_jobs set state = ?, due = ?, token = null, started_at = null, error = ? || coalesce('; at last: ' || error, '') where id = ?",
  );
  return (topic, endpoint, { before, now, error, limit = GIVE_UP_LIMIT_ROWS }) => {
    const rows = old.all(topic, endpoint, before, now, limit);
    for (const row of rows) end.run(state, now, error, row.id);
    const first = rows.filter(({ attempts }) => attempts === 0);
    letNextGo(
      topic,
      first.flatMap(({ ordering_key: orderingKey }) => (orderingKey === null ? [] : [{ orderingKey }])),
      now,
    );
    return rows.length;
  };
}
