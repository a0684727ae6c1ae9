/** Drops days that are over, without what events still wait with. */
import type pg from "pg";
import { ask, unlimited } from "./client.js";
import {
  attach,
  createLike,
  type Day,
  dayStart,
  isOfDay,
  lockTable,
  looked,
  MOVED_LIMIT_ROWS,
  partitionOf,
  type Transactions,
} from "./partition-table.js";

/** Bodies copied in one transaction. */
const BATCH_ROWS = 2_000;
/** What has to be gained for bodies to be copied: so much of them is needed no more. */
const FAIR_PART = 0.25;

/** A partition of a day that is over. */
export interface Over extends Day {
  readonly partition: string;
}

/** What became of it. */
export interface Ending {
  /** It is gone. */
  readonly dropped: boolean;
  /** What is left of it, and why. */
  readonly left?: { readonly name: string; readonly why: string };
}

/** Nothing of it is needed. */
export const dropDay = (run: Transactions, over: Over): Promise<void> =>
  run.brief(async (tx) => {
    await ask(tx, `lock table ${over.partition} in share update exclusive mode`);
    await lockTable(tx, over);
    await ask(tx, `drop table ${over.partition}`);
  });

/** How many jobs have their bodies in days before one, by day. Jobs are few: those that are done are gone. */
export const neededBefore = (run: Transactions, day: number): Promise<ReadonlyMap<number, number>> =>
  run.patient(async (tx) => {
    const text = `select body_at / ${dayStart(1)} as day, count(*) as n from adbind_jobs where body_at < $1 group by 1`;
    const { rows } = await ask<{ day: number; n: number }>(tx, text, [dayStart(day)]);
    return new Map(rows.map((row) => [row.day, row.n]));
  });

const copyOf = (over: Over): string => `${partitionOf(over)}_copy`;
const keptOf = (over: Over): string => `${partitionOf(over)}_kept`;
const counted = (n: number): string => n.toLocaleString("en");

/** @param needed how many of its bodies jobs have */
export async function dropBodies(run: Transactions, over: Over, needed: number): Promise<Ending> {
  // Of somebody who was killed meanwhile.
  await run.patient((tx) => ask(tx, `drop table if exists ${copyOf(over)}`));
  if (needed <= MOVED_LIMIT_ROWS) return moveFew(run, over);
  const total = await run.patient(
    async (tx) => (await ask<{ n: number }>(tx, `select count(*) as n from ${over.partition}`)).rows[0]!.n,
  );
  const why = `events wait, or are kept, with ${counted(needed)} of its ${counted(total)} bodies`;
  if (needed > total * (1 - FAIR_PART)) return { dropped: false, left: { name: over.partition, why } };
  await replace(run, over);
  return { dropped: true, left: { name: keptOf(over), why: `${why}; the rest of it is gone` } };
}

/** What is needed of few is moved to the default partition: nothing else takes it then. */
async function moveFew(run: Transactions, over: Over): Promise<Ending> {
  const { name, partition } = over;
  return run.brief(async (tx) => {
    // Nobody adds or changes any; leasing, and storing what is new, goes on.
    await ask(tx, `lock table ${partition} in exclusive mode`);
    const jobs = `select id, body_at from adbind_jobs where ${isOfDay("body_at", over)}`;
    const { rows } = await ask<{ id: number; body_at: number }>(tx, jobs);
    await lockTable(tx, over);
    await ask(tx, `alter table ${name} detach partition ${partition}`);
    await ask(
      tx,
      `insert into ${name} select p.* from unnest($1::bigint[], $2::bigint[]) as j (id, at)
        join ${partition} p on p.at = j.at and p.job = j.id`,
      [rows.map(({ id }) => id), rows.map(({ body_at }) => body_at)],
    );
    await ask(tx, `drop table ${partition}`);
    return { dropped: true };
  });
}

/** A table of what is needed takes its place. It is filled while everybody works on. */
async function replace(run: Transactions, over: Over): Promise<void> {
  const { name, column, partition } = over;
  const [copy, kept] = [copyOf(over), keptOf(over)];
  await run.patient((tx) => createLike(tx, over, copy, `, constraint ${copy}_day check (${isOfDay(column, over)})`));
  const begun = await run.patient(async (tx) => {
    const text = "select pg_snapshot_xmin(pg_current_snapshot())::text as xmin";
    return (await ask<{ xmin: string }>(tx, text)).rows[0]!.xmin;
  });
  await copyBodies(run, over);
  await looked(run, over, async (tx) => {
    await ask(tx, `lock table ${partition} in exclusive mode`);
    await copyChanged(tx, over, begun);
    await lockTable(tx, over);
    await ask(tx, `alter table ${name} detach partition ${partition}`);
    await ask(tx, `drop table ${partition}`);
    await ask(tx, `alter table ${copy} rename to ${kept}`);
    await attach(tx, over, kept);
    await ask(tx, `alter table ${kept} drop constraint ${copy}_day`);
  });
}

/**
 * What has arrived since with a keyspace, or was sealed anew: few, if any. All that are needed are looked at for it, while nobody
 * changes one; storing and leasing goes on for as long as that takes.
 */
const copyChanged = (tx: pg.ClientBase, over: Over, begun: string): Promise<void> =>
  unlimited(tx, async () => {
    await ask(
      tx,
      `insert into ${copyOf(over)} select p.* from adbind_jobs j join ${over.partition} p on p.at = j.body_at and p.job = j.id
        where ${isOfDay("j.body_at", over)} and age(p.xmin) <= age($1::text::xid8::xid)
        on conflict (at, job) do update set meta = excluded.meta, body = excluded.body`,
      [begun],
    );
    await ask(tx, "set local statement_timeout to default");
  });

async function copyBodies(run: Transactions, over: Over): Promise<void> {
  const text = `with next as materialized (
      select id, body_at from adbind_jobs where id > $1 and ${isOfDay("body_at", over)} order by id limit ${BATCH_ROWS}
    ), copied as (
      insert into ${copyOf(over)} select p.* from next n join ${over.partition} p on p.at = n.body_at and p.job = n.id
        on conflict (at, job) do nothing
    )
    select count(*) as n, max(id) as last from next`;
  for (let last = 0, more = true; more; ) {
    const [row] = (await run.patient((tx) => ask<{ n: number; last: number | null }>(tx, text, [last]))).rows;
    more = row!.n === BATCH_ROWS;
    last = row!.last ?? last;
  }
}
