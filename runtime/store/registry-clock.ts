/**
 * Numbers of changes. Where transactions take turns (SQLite) they are counted in a row. On PostgreSQL a sequence gives them, so
 * that no two writers meet: numbers are then taken in another order than transactions end in, and what readers may rely on is
 * the low-water mark, up to which every change is there to be seen. Each writer holds, from before it takes its number until
 * its transaction has ended, a shared lock that bears the number before; the lowest that is held is the mark.
 */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";

export interface ClockRow {
  /** All changes up to this number can be seen by whoever looks from now on. */
  readonly seq: number;
  /** The newest number given: between the two are changes that can be seen and some that cannot yet. */
  readonly last: number;
  /** Moves up to this number are forgotten. */
  readonly pruned: number;
}

const SEQUENCE = "adbind_registry_changes";
/** A lock bears 31 bits of a number; which of the others it had is told by those given now. */
const LOW_BITS = 2 ** 31 - 1;
/** Numbers that were given after the newest was looked at are no more than this ahead. */
const AHEAD = 2 ** 30;

/**
 * The number of this transaction's change. Take it late: what comes to be seen after it waits for the end. Whoever changes
 * the same publisher or agent holds it already, so that their numbers are in the order of their ends.
 */
export function* tick(q: Query): Coroutine<number> {
  const text = q.dialect.turns
    ? "update adbind_registry_clock set seq = seq + 1 where id = 1 returning seq"
    : "with held as materialized (select pg_advisory_xact_lock_shared(" +
      `'${SEQUENCE}'::regclass::oid::integer, (last_value & ${LOW_BITS})::integer) from ${SEQUENCE}) ` +
      `select nextval('${SEQUENCE}') as seq from held`;
  return (yield* q.rows<{ seq: number }>(text))[0]!.seq;
}

// The locks are looked at after the number: whoever took one by then holds its lock, or has ended.
const MARK =
  `with given as materialized (select last_value as last from ${SEQUENCE}) select given.last, c.pruned, ` +
  `least(given.last, (select min(given.last - ((given.last - l.objid::bigint) & ${LOW_BITS})) from pg_locks l ` +
  `where l.locktype = 'advisory' and l.classid = '${SEQUENCE}'::regclass::oid and l.objsubid = 2 ` +
  "and l.database = (select oid from pg_database where datname = current_database()) " +
  `and ((given.last - l.objid::bigint) & ${LOW_BITS}) < ${AHEAD})) as seq ` +
  "from given cross join adbind_registry_clock c";

/** How far changes can be seen. To be asked before what is read by it, and not within one state of the database. */
export function* clock(q: Query): Coroutine<ClockRow> {
  const text = q.dialect.turns ? "select seq, seq as last, pruned from adbind_registry_clock where id = 1" : MARK;
  return (yield* q.rows<ClockRow>(text))[0]!;
}

/**
 * Stands for what can be seen: the same number, the same data. While a change is under way that others have overtaken, no
 * number does, and each is another.
 */
export function* revision(q: Query): Coroutine<number> {
  const { seq, last } = yield* clock(q);
  return seq === last ? seq : seq + Math.random();
}

/** Whether this transaction is the one that forgets; where another is at it, nobody waits. */
export function* takesPruning(q: Query): Coroutine<boolean> {
  const skip = q.dialect.turns ? "" : " for update skip locked";
  return (yield* q.rows(`select id from adbind_registry_clock where id = 1${skip}`)).length > 0;
}

export const noteMovesPruned = (q: Query, through: number): Coroutine<unknown> =>
  q.rows("update adbind_registry_clock set pruned = ? where id = 1", [through]);
