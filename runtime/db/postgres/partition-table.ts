/** Tables by days: how their days are named, and in which transactions they are changed. */
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { stayBeside } from "./beside-ours.js";
import { ask, unlimited } from "./client.js";
import { hasGivenWay } from "./faults.js";

const DAY_MS = 86_400_000;
/** Rows that are moved while others wait; where there are more, they are not. */
export const MOVED_LIMIT_ROWS = 2_000;
/**
 * Longest wait for those who use a table, in milliseconds: who comes after us waits as long. More than the second after which the
 * server has an autovacuum give way, and finds who waits for whom in a circle.
 */
const LOCK_MS = 2_000;
/** How often it is tried, and the first pause in between, in milliseconds; each one is twice as long as the one before. */
const TRIES = 4;
const PAUSE_MS = 500;
/**
 * A default partition of more than this, without what is stored apart, is not looked through while others wait, in bytes. The
 * server does so as a day is attached: some of its rows might be of that day.
 */
export const LARGE_BYTES = 64 * 1024 * 1024;

/** A table by days. */
export interface Table {
  readonly name: string;
  /** By which column, in unix milliseconds. */
  readonly column: string;
}

/** A day of a table. */
export interface Day extends Table {
  /** Whole days since 1970. */
  readonly day: number;
}

export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);
/** Its first moment, in unix milliseconds. */
export const dayStart = (day: number): number => day * DAY_MS;

export const partitionOf = ({ name, day }: Day): string =>
  `${name}_${new Date(dayStart(day)).toISOString().slice(0, 10).replaceAll("-", "")}`;

/** Condition on a column of times that are of a day. */
export const isOfDay = (column: string, { day }: Day): string =>
  `${column} >= ${dayStart(day)} and ${column} < ${dayStart(day + 1)}`;

export type ClientWork<T> = (tx: pg.ClientBase) => Promise<T>;

/** Transactions of two kinds. */
export interface Transactions {
  /** One that keeps nobody waiting: it may take as long as it takes. */
  patient<T>(work: ClientWork<T>): Promise<T>;
  /**
   * One that others wait for. It gives way where it waits itself, and is tried again.
   * @throws AdbindError `database_busy` where a transaction stays open for longer than that
   */
  brief<T>(work: ClientWork<T>): Promise<T>;
}

export function transactionsOn(
  transaction: <T>(work: ClientWork<T>, lockTimeoutMs?: number) => Promise<T>,
): Transactions {
  const beside =
    <T>(work: ClientWork<T>): ClientWork<T> =>
    async (tx) => {
      await stayBeside(tx);
      return work(tx);
    };
  return {
    patient: (work) => transaction((tx) => unlimited(tx, () => beside(work)(tx))),
    async brief(work) {
      for (let tried = 1; ; tried++) {
        try {
          return await transaction(beside(work), LOCK_MS);
        } catch (error) {
          if (tried >= TRIES || !hasGivenWay(error)) throw error;
          await pause(PAUSE_MS * 2 ** tried);
        }
      }
    },
  };
}

interface DayThere {
  readonly name: string;
  /** Whose it is, where that is a role whose tables ours may not drop. */
  readonly foreign: string | null;
}

/** Days that a table has partitions for. */
export async function daysThere(tx: pg.ClientBase, { name }: Table): Promise<Map<number, DayThere>> {
  const text = `select c.relname as name, case when not pg_has_role(c.relowner, 'usage') then c.relowner::regrole::text end as foreign
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass`;
  const { rows } = await ask<DayThere>(tx, text, [name]);
  const dated = rows.flatMap((row): [number, DayThere][] => {
    const date = /_(\d{4})(\d{2})(\d{2})(_kept)?$/.exec(row.name);
    return date === null ? [] : [[dayOf(Date.UTC(Number(date[1]), Number(date[2]) - 1, Number(date[3]))), row]];
  });
  return new Map(dated.sort(([a], [b]) => a - b));
}

/**
 * A table that becomes a partition. It is the owner's of all of them, also where a superuser or a member of that role makes it:
 * whoever makes and drops days every day could not read it otherwise. A member that has the owner's rights and may not become it
 * (PostgreSQL 16: `grant ... with set false`) cannot give it away: it stays with who made it, who can drop it. It stands in the
 * tablespace that the table was given; its indexes do by themselves.
 * @param more further parts of its definition
 */
export async function createLike(tx: pg.ClientBase, { name }: Table, made: string, more = ""): Promise<void> {
  const given =
    "select quote_ident(spcname) as space from pg_tablespace where oid = (select reltablespace from pg_class where oid = $1::regclass)";
  const [own] = (await ask<{ space: string }>(tx, given, [name])).rows;
  const where = own === undefined ? "" : ` tablespace ${own.space}`;
  await ask(
    tx,
    `create table ${made} (like ${name} including defaults including storage including indexes${more})${where}`,
  );
  const text = `select t.relowner::regrole::text as owner from pg_class t join pg_class p on p.oid = $2::regclass
    where t.oid = $1::regclass and t.relowner <> p.relowner and has_schema_privilege(t.relowner, p.relnamespace, 'create')
      and case when current_setting('server_version_num')::int < 160000 then true else pg_has_role(t.relowner, 'set') end`;
  const { rows } = await ask<{ owner: string }>(tx, text, [name, made]);
  for (const { owner } of rows) await ask(tx, `alter table ${made} owner to ${owner}`);
}

export const attach = (tx: pg.ClientBase, { name, day }: Day, partition: string): Promise<unknown> => {
  const bounds = `from (${dayStart(day)}) to (${dayStart(day + 1)})`;
  return ask(tx, `alter table ${name} attach partition ${partition} for values ${bounds}`);
};

/**
 * Has an autovacuum of the default partition give way, which would keep others waiting with us, and then everybody wait. Of the
 * table alone: whoever uses one of its partitions comes by it.
 */
export async function lockTable(tx: pg.ClientBase, { name }: Table): Promise<void> {
  await ask(tx, `lock table ${name}_default in share update exclusive mode`);
  await ask(tx, `lock table only ${name} in access exclusive mode`);
}

export async function bytesOfDefault(run: Transactions, { name }: Table): Promise<number> {
  const text = `select pg_relation_size('${name}_default')::bigint as bytes`;
  return run.patient(async (tx) => (await ask<{ bytes: number }>(tx, text)).rows[0]!.bytes);
}

const LOOKED = "adbind_default_looked";

/** Takes back that the default partition has no rows of a day. Whoever was killed before he did leaves it to the next one. */
export async function forgetLooked(run: Transactions, { name }: Table): Promise<void> {
  const text = `select from pg_constraint where conrelid = '${name}_default'::regclass and conname = '${LOOKED}'`;
  const { rowCount } = await run.patient((tx) => ask(tx, text));
  if (rowCount === 0) return;
  await run.brief((tx) => ask(tx, `alter table ${name}_default drop constraint if exists ${LOOKED}`));
}

/**
 * Does work that attaches a day of which the default partition has no rows, and gets none meanwhile. A large one is looked
 * through before, with nobody waiting, and a constraint says so.
 */
export async function looked<T>(run: Transactions, day: Day, work: ClientWork<T>): Promise<T> {
  if ((await bytesOfDefault(run, day)) <= LARGE_BYTES) return run.brief(work);
  const { name, column } = day;
  const none = `check (${column} < ${dayStart(day.day)} or ${column} >= ${dayStart(day.day + 1)}) not valid`;
  try {
    await run.brief((tx) => ask(tx, `alter table ${name}_default add constraint ${LOOKED} ${none}`));
    await run.patient((tx) => ask(tx, `alter table ${name}_default validate constraint ${LOOKED}`));
    return await run.brief(work);
  } finally {
    await forgetLooked(run, day);
  }
}
