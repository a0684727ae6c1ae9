/** Leases jobs on SQLite, endpoint by endpoint: who has waited longest comes first, and no look reads more than its part of them. */
import type { Database } from "better-sqlite3";
import type { JobRow } from "../job-rows.js";
import { BEHIND_DUE_MS, LATE_MS } from "../jobs.js";
import { jobIn, type LeasedTask, taskIn } from "../leased.js";
import {
  type Basics,
  JOB_BODY,
  READY,
  type Round,
  type SqliteJobs,
  type TakeSqlite,
  type TurnPlace,
} from "./sqlite-jobs.js";

/** Endpoints read in one go: about two milliseconds. */
const PAGE = 512;
/** Of those that have waited longest so many are asked in every look: what becomes free is theirs, wherever the round is. */
const FIRST = 64;
const START: TurnPlace = [Number.MIN_SAFE_INTEGER, ""];

/** The task in whose order a job in `j` goes, by the names that ordering keys of tasks have. */
const TASK =
  "left join adbind_sent_tasks t on t.task_id = iif(substr(j.ordering_key, 1, 4) in ('task', 'a2a:'), " +
  "substr(j.ordering_key, instr(j.ordering_key, ':') + 1), null)";

/** Ordering keys that are asked whether what goes first under them is still there. */
const STRANDED_KEYS = 100;

export function taking(db: Database, basic: Basics): SqliteJobs["take"] {
  const due = db.prepare<[string, string, number, number], JobRow & LeasedTask>(
    "select j.*, b.meta, b.body, t.task_id, t.principal as task_principal, t.status as task_status, " +
      `t.details as task_details from adbind_jobs j ${JOB_BODY} ${TASK} ` +
      `where topic = ? and endpoint = ? and ${READY} and due <= ? order by due, id limit ?`,
  );
  const lease = db.prepare<[string, number, number, number, string]>(
    "update adbind_jobs set token = ?, due = ?, started_at = ?, first_at = coalesce(first_at, ?) " +
      "where id in (select value from json_each(?))",
  );
  const first = db
    .prepare<[string, string], number>(
      `select min(id) from adbind_jobs where topic = ? and ordering_key = ? and ${READY} and attempts = 0`,
    )
    .pluck();
  /** An older one was replayed while it was leased by a worker that has died. */
  const isPassed = ({ id, topic, token, ordering_key: key, attempts }: JobRow): boolean =>
    token !== null && key !== null && attempts === 0 && first.get(topic, key) !== id;
  const look = looking(db);
  const leave = leaving(db, basic);
  return (request) => {
    const { topic, token, now, until } = request;
    const lookedAt = performance.now();
    let bytes = request.bytes ?? Number.POSITIVE_INFINITY;
    const taken: (JobRow & LeasedTask)[] = [];
    const passed: JobRow[] = [];
    // Endpoints first, rows after: a statement that is being read from must not see its own table change.
    const { served, goOn } = look(request);
    const looked = new Set<string>();
    for (const endpoint of served) {
      const left = request.limit - taken.length;
      if (left <= 0 || bytes <= 0) break;
      const found: typeof taken = [];
      for (const row of due.iterate(topic, endpoint, now, Math.min(request.room(endpoint), left))) {
        found.push(row);
        bytes -= row.body?.length ?? 0;
        if (bytes <= 0) break;
      }
      for (const row of found) (isPassed(row) ? passed : taken).push(row);
      looked.add(endpoint);
    }
    goOn(looked);
    for (const { ordering_key: key } of passed) basic.orderAnew(topic, key!, now);
    if (taken.length > 0) lease.run(token, until, now, now, JSON.stringify(taken.map(({ id }) => id)));
    for (const endpoint of looked) leave(topic, endpoint, now);
    const leased = { topic, state: "ready", due: until, startedAt: now, token } as const;
    return taken.map((row) => jobIn(row, leased, taskIn(row, lookedAt)));
  };
}

interface Turns {
  /** Endpoints with room, whose turn it is. */
  readonly served: ReadonlySet<string>;
  /** Says where the next look goes on. @param looked those of them who had their turn */
  goOn(looked: ReadonlySet<string>): void;
}

interface DueEndpoint {
  readonly endpoint: string;
  readonly ready_at: number;
  readonly stopped_at: number | null;
}

/**
 * Looks at some of those that have something due: at all of them where they are few. Else at those that have waited longest, at
 * the next of the round, and at those that have come since: who is well is not held up by thousands for whom there is no room.
 */
function looking(db: Database): (request: TakeSqlite) => Turns {
  const endpoints = db.prepare<[string, ...TurnPlace, number, number], DueEndpoint>(
    "select endpoint, ready_at, stopped_at from adbind_endpoints " +
      "where topic = ? and (ready_at, endpoint) > (?, ?) and ready_at <= ? order by ready_at, endpoint limit ?",
  );
  return ({ topic, now, limit, room, round }) => {
    const served = new Set<string>();
    const read = (after: TurnPlace, most: number): DueEndpoint[] => {
      const rows: DueEndpoint[] = [];
      for (const row of endpoints.iterate(topic, ...after, now, most)) {
        rows.push(row);
        if (row.stopped_at === null && room(row.endpoint) > 0) served.add(row.endpoint);
        if (served.size >= limit) break;
      }
      return rows;
    };
    const first = read(START, round.after === undefined ? PAGE : FIRST);
    const next = round.after === undefined ? first : read(round.after, PAGE);
    const full = served.size >= limit;
    const ended = !full && next.length < PAGE;
    const fresh = full || ended ? [] : read(round.seen, PAGE);
    return {
      served,
      goOn(looked) {
        const few = ended && next === first;
        round.vain &&= looked.size === 0;
        round.whole = few || (ended && round.vain);
        if (ended) Object.assign(round, { after: undefined, seen: [now, ""], vain: true } satisfies Partial<Round>);
        else {
          // Who fills a look from the beginning is at the end then.
          if (!full || next !== first) round.after = placeAfter(next, round.after, served, looked);
          round.seen = placeAfter(fresh, round.seen, served, looked) ?? round.seen;
        }
      },
    };
  };
}

/** The last one who had his turn: what is behind him may have had no room since others had it. Where there is none, the last one of all. */
function placeAfter(
  rows: readonly DueEndpoint[],
  before: TurnPlace | undefined,
  served: ReadonlySet<string>,
  looked: ReadonlySet<string>,
): TurnPlace | undefined {
  const theirs = rows.filter(({ endpoint }) => served.has(endpoint));
  const last = theirs.length === 0 ? rows.at(-1) : theirs.findLast(({ endpoint }) => looked.has(endpoint));
  return last === undefined ? before : [last.ready_at, last.endpoint];
}

/**
 * Says when the rest of an endpoint is due, or forgets it. Where all of it waits for others, the first of them may be gone without a
 * word, deleted by hand: nobody else would let the rest go.
 */
function leaving(db: Database, { letNextGo }: Basics): (topic: string, endpoint: string, now: number) => void {
  const next = db.prepare<[string, string], { due: number | null }>(
    `select min(due) as due from adbind_jobs where topic = ? and endpoint = ? and ${READY}`,
  );
  const rest = db.prepare<[number, string, string]>(
    "update adbind_endpoints set ready_at = max(paused_until, ?) where topic = ? and endpoint = ?",
  );
  const forget = db.prepare<[string, string, number]>(
    "delete from adbind_endpoints where topic = ? and endpoint = ? and failing_since is null and stopped_at is null " +
      "and coalesce(resumed_at, 0) <= ?",
  );
  const waiting = db
    .prepare<[string, string], string>(
      `select distinct ordering_key from (select ordering_key from adbind_jobs where topic = ? and endpoint = ? and ${READY} ` +
        `and due = ${BEHIND_DUE_MS} limit ${STRANDED_KEYS}) where ordering_key is not null`,
    )
    .pluck();
  return (topic, endpoint, now) => {
    const at = next.get(topic, endpoint)!.due;
    if (at !== null) rest.run(Math.min(Math.max(at, now), BEHIND_DUE_MS), topic, endpoint);
    else if (forget.run(topic, endpoint, now - LATE_MS).changes === 0) rest.run(BEHIND_DUE_MS, topic, endpoint);
    if (at === BEHIND_DUE_MS) {
      const keys = waiting.all(topic, endpoint);
      letNextGo(
        topic,
        keys.map((orderingKey) => ({ orderingKey })),
        now,
      );
    }
  };
}
