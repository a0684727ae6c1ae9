/**
 * Partitions by day of what comes and goes at a great rate: made ahead, and dropped as a whole, which costs nothing where
 * deleting would cost a row each. What came before its partition was made is in the default one, and is moved.
 */
import type pg from "pg";
import type { PartitionsKept, PartitionsRequest } from "../types.js";
import { ask } from "./client.js";

const DAY_MS = 86_400_000;
/** A day's bodies are of use while their jobs wait; those that wait longer than this are few, and moved. */
const BODY_DAYS = 2;
/** Bodies still needed of a day that is dropped; of a day with more, it is left for another time. */
const MOVED_LIMIT_ROWS = 20_000;
/** Longest wait for those who write to a table, in milliseconds: who comes after us waits as long. */
const LOCK_MS = 3_000;

interface Table {
  readonly name: string;
  readonly column: string;
  /** First and last day that partitions are made for. */
  days(request: PartitionsRequest): readonly [first: number, last: number];
  /** Whether a day's partition may go, by the clock. */
  isOver(day: number, now: number): boolean;
  /** Condition on rows of `p` that are needed all the same. */
  readonly needed: string | undefined;
}

const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

const tables: readonly Table[] = [
  {
    name: "adbind_job_bodies",
    column: "at",
    days: ({ now, days }) => [dayOf(now), dayOf(now) + days],
    isOver: (day, now) => day + BODY_DAYS < dayOf(now),
    needed: "exists (select from adbind_jobs j where j.id = p.job)",
  },
  {
    name: "adbind_activity",
    column: "expires",
    // Rows expire with the last millisecond of a day.
    days: ({ now, days, activityDays }) => [dayOf(now) + activityDays, dayOf(now) + activityDays + days],
    isOver: (day, now) => (day + 1) * DAY_MS <= now,
    needed: undefined,
  },
];

const nameOf = (table: string, day: number): string =>
  `${table}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;

/** Days that a table has partitions for, by their names. */
async function daysThere(tx: pg.ClientBase, { name }: Table): Promise<Map<number, string>> {
  const text =
    "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass";
  const { rows } = await ask<{ name: string }>(tx, text, [name]);
  const dated = rows.flatMap((row): [number, string][] => {
    const date = /_(\d{4})(\d{2})(\d{2})$/.exec(row.name);
    return date === null ? [] : [[dayOf(Date.UTC(Number(date[1]), Number(date[2]) - 1, Number(date[3]))), row.name]];
  });
  return new Map(dated);
}

/** Rows that came early are in the default partition: they move, and nobody writes meanwhile. */
async function make(tx: pg.ClientBase, { name, column }: Table, day: number): Promise<string> {
  const made = nameOf(name, day);
  const [from, to] = [day * DAY_MS, (day + 1) * DAY_MS];
  await ask(tx, `lock table ${name} in access exclusive mode`);
  await ask(tx, `create table ${made} (like ${name} including defaults including storage)`);
  const moved = `delete from ${name}_default where ${column} >= ${from} and ${column} < ${to} returning *`;
  await ask(tx, `with moved as (${moved}) insert into ${made} select * from moved`);
  await ask(tx, `alter table ${name} attach partition ${made} for values from (${from}) to (${to})`);
  return made;
}

/** @returns whether it is gone */
async function drop(tx: pg.ClientBase, { name, needed }: Table, partition: string): Promise<boolean> {
  if (needed !== undefined) {
    const text = `select count(*)::int as n from (select from ${partition} p where ${needed} limit ${MOVED_LIMIT_ROWS + 1}) n`;
    const { rows } = await ask<{ n: number }>(tx, text);
    if (rows[0]!.n > MOVED_LIMIT_ROWS) return false;
  }
  await ask(tx, `alter table ${name} detach partition ${partition}`);
  // Into the default partition: nothing else takes them now.
  if (needed !== undefined) await ask(tx, `insert into ${name} select p.* from ${partition} p where ${needed}`);
  await ask(tx, `drop table ${partition}`);
  return true;
}

export async function keepPartitions(tx: pg.ClientBase, request: PartitionsRequest): Promise<PartitionsKept> {
  await ask(tx, `set local lock_timeout = ${LOCK_MS}`);
  // Two of this command at a time would make the same.
  await ask(tx, "select pg_advisory_xact_lock(hashtext('adbind partitions'))");
  const [made, dropped]: [string[], string[]] = [[], []];
  for (const table of tables) {
    const there = await daysThere(tx, table);
    const [first, last] = table.days(request);
    for (let day = first; day <= last; day++) if (!there.has(day)) made.push(await make(tx, table, day));
    for (const [day, name] of there) {
      if (table.isOver(day, request.now) && (await drop(tx, table, name))) dropped.push(name);
    }
  }
  return { made, dropped };
}
