/**
 * Jobs on PostgreSQL. A job that may run has one of pg-boss standing for it (`queued`), whose claim is the job's; every
 * other waits in its row, so that a group that is paused, or a lane, costs nothing to those that pass it.
 */
import { sql } from "../../db/postgres/sql.js";
import {
  BEHIND_DUE_MS,
  type GroupHealth,
  type Job,
  type JobRecord,
  type JobRow,
  type NewJob,
  opensLane,
  type Settlement,
  toJobRecord,
} from "../jobs.js";
import type { Db, Tx } from "./tables.js";

/** Channel on which instances are told of new jobs; the payload is the topic. */
export const JOBS_CHANNEL = "adbind_jobs";

const BURY_LIMIT_ROWS = 500;
/** Groups looked at in one take; the others follow in the next. */
const GROUP_LIMIT = 64;

/** Adds jobs and wakes whoever listens. Answers the ids of those that may run at once. */
export async function addJobs(tx: Tx, topic: string, jobs: readonly NewJob[], now: number): Promise<number[]> {
  const rows = await sql<{ id: number; queued: boolean }>`
    with added as (
      insert into adbind_jobs (topic, key, random, grp, lane, state, queued, due, created_at, meta, body)
      select ${topic}, key, random, grp, lane, 'ready', due <= ${now}::bigint, due, ${now}::bigint, meta, body
      from unnest(${jobs.map((job) => job.key)}::text[], ${jobs.map((job) => job.random === true)}::boolean[],
        ${jobs.map((job) => job.group)}::text[],
        ${jobs.map((job) => job.lane ?? null)}::text[], ${jobs.map((job) => job.due ?? now)}::bigint[],
        ${jobs.map((job) => job.meta)}::text[], ${jobs.map((job) => Buffer.from(job.body))}::bytea[])
        with ordinality as v (key, random, grp, lane, due, meta, body, n)
      order by n
      returning id, queued
    )
    select id, queued, (select pg_notify(${JOBS_CHANNEL}, ${topic})::text) as told from added order by id`.rows(tx);
  const later = jobs.filter((job) => (job.due ?? now) > now);
  if (later.length > 0) {
    await touchGroups(
      tx,
      topic,
      later.map((job) => ({ group: job.group, at: job.due! })),
    );
  }
  return rows.filter((row) => row.queued).map((row) => row.id);
}

interface Touch {
  readonly group: string;
  readonly at: number;
}

/** Says when something of a group may be due; always in the groups' order, so that two transactions never cross. */
export async function touchGroups(tx: Tx, topic: string, touches: readonly Touch[]): Promise<void> {
  const earliest = new Map<string, number>();
  for (const { group, at } of touches) earliest.set(group, Math.min(at, earliest.get(group) ?? at));
  const sorted = [...earliest].sort(([a], [b]) => (a < b ? -1 : 1));
  await sql`
    insert into adbind_groups (topic, grp, ready_at)
    select ${topic}, grp, at from unnest(${sorted.map(([group]) => group)}::text[],
      ${sorted.map(([, at]) => at)}::bigint[]) as v (grp, at)
    on conflict (topic, grp) do update set
      ready_at = greatest(adbind_groups.paused_until, least(adbind_groups.ready_at, excluded.ready_at))`.run(tx);
}

/** Groups with something due, locked against other instances. */
export async function dueGroups(tx: Tx, topic: string, now: number, full: readonly string[]): Promise<string[]> {
  const rows = await sql<{ grp: string }>`
    select grp from adbind_groups where topic = ${topic} and ready_at <= ${now} and grp <> all(${full}::text[])
    order by ready_at limit ${GROUP_LIMIT} for update skip locked`.rows(tx);
  return rows.map((row) => row.grp);
}

/** Frees as many due jobs of each group as it has room for; answers their ids. */
export async function freeJobs(
  tx: Tx,
  topic: string,
  now: number,
  rooms: readonly (readonly [group: string, room: number])[],
): Promise<number[]> {
  const groups = rooms.map(([group]) => group);
  const rows = await sql<{ id: number }>`
    update adbind_jobs set queued = true where id = any(array(
      select j.id from unnest(${groups}::text[], ${rooms.map(([, room]) => room)}::int[]) as w (grp, room)
      cross join lateral (
        select id from adbind_jobs where topic = ${topic} and grp = w.grp and state = 'ready' and not queued
          and due <= ${now} order by due limit w.room for update skip locked
      ) j
    )) returning id`.rows(tx);
  await sql`
    update adbind_groups g set ready_at = greatest(g.paused_until, coalesce((
      select greatest(min(j.due), ${now}::bigint) from adbind_jobs j
      where j.topic = g.topic and j.grp = g.grp and j.state = 'ready' and not j.queued), ${BEHIND_DUE_MS}::bigint))
    where topic = ${topic} and grp = any(${groups}::text[])`.run(tx);
  await sql`
    delete from adbind_groups where topic = ${topic} and grp = any(${groups}::text[]) and ready_at = ${BEHIND_DUE_MS}
      and failing_since is null`.run(tx);
  return rows.map((row) => row.id);
}

export interface QueuedRow extends JobRow {
  paused_until: number;
}

/** Rows behind jobs of pg-boss, with how their groups fare; those that were dropped are missing. */
export async function queuedRows(tx: Tx, ids: readonly number[]): Promise<QueuedRow[]> {
  const rows = await sql<QueuedRow>`
    select j.*, coalesce(g.paused_until, 0) as paused_until
    from adbind_jobs j left join adbind_groups g on g.topic = j.topic and g.grp = j.grp
    where j.id = any(${ids}::bigint[]) and j.state = 'ready' order by j.id for update of j`.rows(tx);
  return rows;
}

/**
 * The job of each lane that is to be attempted next. It is locked against being settled, so that whoever settles it sees
 * what we put behind it. A lane that is missing has just moved on.
 */
export async function laneHeads(tx: Tx, topic: string, lanes: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql<{ lane: string; id: number }>`
    select lane, id from adbind_jobs where id = any(array(
      select h.id from unnest(${lanes}::text[]) as l (lane) cross join lateral (
        select id from adbind_jobs where topic = ${topic} and lane = l.lane and state = 'ready' and attempts = 0
        order by id limit 1
      ) h
    )) and state = 'ready' and attempts = 0 order by id for share`.rows(tx);
  return new Map(rows.map(({ lane, id }) => [lane, id]));
}

export async function startJobs(tx: Tx, ids: readonly number[], claims: readonly string[], now: number): Promise<void> {
  await sql`
    update adbind_jobs j set claim = v.claim, started_at = ${now}, first_at = coalesce(first_at, ${now})
    from unnest(${ids}::bigint[], ${claims}::text[]) as v (id, claim) where j.id = v.id`.run(tx);
}

export interface Shelved {
  readonly id: number;
  readonly group: string;
  readonly due: number;
}

/** Puts jobs that may not run aside until a time. */
export async function shelveJobs(tx: Tx, topic: string, shelved: readonly Shelved[]): Promise<void> {
  await sql`
    update adbind_jobs j set queued = false, claim = null, started_at = null, due = v.due
    from unnest(${shelved.map((one) => one.id)}::bigint[], ${shelved.map((one) => one.due)}::bigint[]) as v (id, due)
    where j.id = v.id`.run(tx);
  const timed = shelved.filter((one) => one.due < BEHIND_DUE_MS);
  if (timed.length > 0) {
    await touchGroups(
      tx,
      topic,
      timed.map(({ group, due }) => ({ group, at: due })),
    );
  }
}

/** Writes what became of jobs whose claims were found to hold. */
export async function settleJobs(
  tx: Tx,
  topic: string,
  settlements: readonly Settlement[],
  now: number,
): Promise<void> {
  const ids = (kind: Settlement["verdict"]["kind"]): number[] =>
    settlements.filter((one) => one.verdict.kind === kind).map((one) => one.job.id);
  const all = settlements.map((one) => one.job.id);
  await sql`select id from adbind_jobs where id = any(${all}::bigint[]) order by id for update`.run(tx);
  const done = ids("done");
  if (done.length > 0) await sql`delete from adbind_jobs where id = any(${done}::bigint[])`.run(tx);
  const [later, back, dead] = [pick(settlements, "later"), pick(settlements, "back"), pick(settlements, "dead")];
  if (later.length > 0) {
    await sql`
      update adbind_jobs j set queued = false, claim = null, started_at = null, attempts = attempts + 1,
        due = v.due, error = v.error
      from unnest(${later.map((one) => one.id)}::bigint[], ${later.map((one) => one.due)}::bigint[],
        ${later.map((one) => one.error)}::text[]) as v (id, due, error) where j.id = v.id`.run(tx);
  }
  if (back.length > 0) {
    await sql`
      update adbind_jobs j set queued = false, claim = null, started_at = null, due = v.due,
        first_at = case attempts when 0 then null else first_at end
      from unnest(${back.map((one) => one.id)}::bigint[], ${back.map((one) => one.due)}::bigint[]) as v (id, due)
      where j.id = v.id`.run(tx);
  }
  if (dead.length > 0) {
    await sql`
      update adbind_jobs j set state = 'dead', queued = false, claim = null, started_at = null,
        attempts = attempts + 1, error = v.error
      from unnest(${dead.map((one) => one.id)}::bigint[], ${dead.map((one) => one.error)}::text[]) as v (id, error)
      where j.id = v.id`.run(tx);
  }
  const touches = [...later, ...back].map(({ group, due }) => ({ group, at: due }));
  const lanes = settlements.filter(opensLane).map((one) => one.job.lane!);
  await openLanes(tx, topic, lanes, now, touches);
}

const pick = (settlements: readonly Settlement[], kind: "later" | "back" | "dead") =>
  settlements
    .filter((one) => one.verdict.kind === kind)
    .map(({ job, verdict }) => ({
      id: job.id,
      group: job.group,
      due: "due" in verdict ? verdict.due : 0,
      error: "error" in verdict ? verdict.error : "",
    }));

/** Lets the next of each lane go, and says when the groups have something due. */
export async function openLanes(
  tx: Tx,
  topic: string,
  lanes: readonly string[],
  now: number,
  touches: readonly Touch[] = [],
): Promise<void> {
  const freed =
    lanes.length === 0
      ? []
      : await sql<{ grp: string }>`
            update adbind_jobs set due = ${now} where due = ${BEHIND_DUE_MS} and id = any(array(
              select h.id from unnest(${[...new Set(lanes)]}::text[]) as l (lane) cross join lateral (
                select id from adbind_jobs where topic = ${topic} and lane = l.lane and state = 'ready' and attempts = 0
                order by id limit 1
              ) h
            )) returning grp`.rows(tx);
  const all = [...touches, ...freed.map(({ grp }) => ({ group: grp, at: now }))];
  if (all.length > 0) await touchGroups(tx, topic, all);
}

export async function pauseGroup(db: Db, topic: string, group: string, health: GroupHealth): Promise<void> {
  const { pausedUntil, failingSince } = health;
  await sql`
    insert into adbind_groups (topic, grp, ready_at, paused_until, failing_since)
    values (${topic}, ${group}, ${pausedUntil}, ${pausedUntil}, ${failingSince})
    on conflict (topic, grp) do update set paused_until = excluded.paused_until,
      failing_since = excluded.failing_since, ready_at = excluded.ready_at`.run(db);
}

export async function groupHealth(db: Db, topic: string, group: string): Promise<GroupHealth> {
  const rows = await sql<{ paused_until: number; failing_since: number | null }>`
    select paused_until, failing_since from adbind_groups where topic = ${topic} and grp = ${group}`.rows(db);
  return { pausedUntil: rows[0]?.paused_until ?? 0, failingSince: rows[0]?.failing_since ?? null };
}

/** Gives up what waits in a group; what pg-boss has is out, or is about to be put back here. */
export async function buryJobs(
  tx: Tx,
  topic: string,
  given: { readonly group: string; readonly before: number; readonly error: string; readonly now: number },
): Promise<JobRecord[]> {
  const rows = await sql<JobRow>`
    update adbind_jobs set state = 'dead', error = ${given.error} where id = any(array(
      select id from adbind_jobs where topic = ${topic} and grp = ${given.group} and state = 'ready' and not queued
        and due < ${BEHIND_DUE_MS} and coalesce(first_at, created_at) <= ${given.before}
      order by due limit ${BURY_LIMIT_ROWS} for update skip locked
    )) returning *`.rows(tx);
  const lanes = rows.filter((row) => row.lane !== null && row.attempts === 0).map((row) => row.lane!);
  await openLanes(tx, topic, lanes, given.now);
  return rows.map(toJobRecord);
}

/** Rows before groups, as settling has it: two transactions that meet must not wait for each other. */
export async function pullJobs(tx: Tx, topic: string, horizon: number, now: number): Promise<number> {
  const changed = await sql`
    update adbind_jobs set due = ${now} where topic = ${topic} and state = 'ready' and not queued
      and due > ${horizon} and due < ${BEHIND_DUE_MS}`.run(tx);
  await sql`
    update adbind_groups set ready_at = ${now}, paused_until = least(paused_until, ${now})
    where topic = ${topic} and ready_at > ${horizon} and ready_at < ${BEHIND_DUE_MS}`.run(tx);
  return changed;
}

export const startedJob = (row: JobRow, claim: string, now: number): Job =>
  ({ ...toJobRecord(row), startedAt: now, firstAt: row.first_at ?? now, claim }) as Job;
