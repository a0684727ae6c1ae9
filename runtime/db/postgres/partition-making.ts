/** Makes the partition of a day. */
import { ask } from "./client.js";
import {
  attach,
  bytesOfDefault,
  type ClientWork,
  createLike,
  type Day,
  isOfDay,
  LARGE_BYTES,
  lockTable,
  looked,
  MOVED_LIMIT_ROWS,
  partitionOf,
  type Transactions,
} from "./partition-table.js";

const created =
  (day: Day): ClientWork<string> =>
  async (tx) => {
    const made = partitionOf(day);
    await createLike(tx, day, made);
    return made;
  };

/** Rows of the day that came early, counted up to one more than are moved. */
async function early(run: Transactions, day: Day): Promise<number> {
  const rows = `select from ${day.name}_default where ${isOfDay(day.column, day)} limit ${MOVED_LIMIT_ROWS + 1}`;
  const text = `select count(*)::int as n from (${rows}) n`;
  return run.patient(async (tx) => (await ask<{ n: number }>(tx, text)).rows[0]!.n);
}

/** Whether a table has the name of a day that is none of the table's: one that somebody has detached. */
async function standsApart(run: Transactions, day: Day): Promise<boolean> {
  const text = `select from pg_class c join pg_class t on t.oid = $1::regclass and t.relnamespace = c.relnamespace
    where c.relname = $2`;
  return run.patient(async (tx) => (await ask(tx, text, [day.name, partitionOf(day)])).rowCount !== 0);
}

/**
 * @param written the day that rows are written to now
 * @returns why it was not made; undefined where it was
 */
export async function makeDay(run: Transactions, day: Day, written: number): Promise<string | undefined> {
  const place = `${day.name}_default`;
  if (await standsApart(run, day))
    return `a table of that name is no partition of ${day.name}: it was detached by hand. Where what it has is needed, take it back (insert into ${day.name} select * from ${partitionOf(day)}); then drop or rename it`;
  const rows = await early(run, day);
  if (rows > MOVED_LIMIT_ROWS)
    return `more of its rows than can be moved at once came before it was made: see ${place}`;
  // Nobody writes to it yet: they go on meanwhile. Of tomorrow some may, whose clock is ahead.
  if (rows === 0 && day.day > written + 1) {
    await looked(run, day, async (tx) => attach(tx, day, await created(day)(tx)));
    return undefined;
  }
  if ((await bytesOfDefault(run, day)) > LARGE_BYTES)
    return `everybody would wait until all of ${place} was looked through: days after it are made`;
  await run.brief(async (tx) => {
    const made = await created(day)(tx);
    await lockTable(tx, day);
    const moved = `delete from ${place} where ${isOfDay(day.column, day)} returning *`;
    await ask(tx, `with moved as (${moved}) insert into ${made} select * from moved`);
    await attach(tx, day, made);
  });
  return undefined;
}
