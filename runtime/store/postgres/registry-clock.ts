/**
 * Numbers of changes on PostgreSQL: a sequence gives them, so that no two writers meet. Numbers are then taken in another order
 * than transactions end in, and what readers may rely on is the low-water mark, up to which every change is there to be seen.
 * Each writer holds, from before it takes its number until its transaction has ended, a shared lock that bears the number
 * before; the lowest that is held is the mark.
 */
const SEQUENCE = "adbind_registry_changes";
/** A lock bears 31 bits of a number; which of the others it had is told by those given now. */
const LOW_BITS = 2 ** 31 - 1;
/** Numbers that were given after the newest was looked at are no more than this ahead. */
const AHEAD = 2 ** 30;

export const registryClock = {
  tick:
    "with held as materialized (select pg_advisory_xact_lock_shared(" +
    `'${SEQUENCE}'::regclass::oid::integer, (last_value & ${LOW_BITS})::integer) from ${SEQUENCE}) ` +
    `select nextval('${SEQUENCE}') as seq from held`,
  // The locks are looked at after the number: whoever took one by then holds its lock, or has ended.
  clock:
    `with given as materialized (select last_value as last from ${SEQUENCE}) select given.last, c.pruned, ` +
    `least(given.last, (select min(given.last - ((given.last - l.objid::bigint) & ${LOW_BITS})) from pg_locks l ` +
    `where l.locktype = 'advisory' and l.classid = '${SEQUENCE}'::regclass::oid and l.objsubid = 2 ` +
    "and l.database = (select oid from pg_database where datname = current_database()) " +
    `and ((given.last - l.objid::bigint) & ${LOW_BITS}) < ${AHEAD})) as seq ` +
    "from given cross join adbind_registry_clock c",
  takesPruning: "select id from adbind_registry_clock where id = 1 for update skip locked",
};
