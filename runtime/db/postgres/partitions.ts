/**
 * Partitions by day of what comes and goes at a great rate: made ahead, and dropped as a whole, which costs nothing where
 * deleting would cost a row each. What has to be read for it is read before, while everybody works on; what others wait for is
 * done in transactions of its own, each as short as a change of the catalogue and a few rows.
 */
import type pg from "pg";
import type { PartitionLeft, PartitionsKept, PartitionsRequest } from "../types.js";
import { ask } from "./client.js";
import { CLOCK } from "./clock.js";
import { dropBodies, dropDay, type Ending, neededBefore, type Over } from "./partition-dropping.js";
import { makeDay } from "./partition-making.js";
import {
  type ClientWork,
  dayOf,
  dayStart,
  daysThere,
  forgetLooked,
  partitionOf,
  type Table,
  type Transactions,
  transactionsOn,
} from "./partition-table.js";

/** A day's bodies are of use while their jobs wait; those that wait for longer than this are few, and kept. */
const BODY_DAYS = 2;

type KeptRequest = Required<PartitionsRequest>;

interface KeptTable extends Table {
  /** The day that rows are written to now. */
  written(request: KeptRequest): number;
  /** Whether a day may go, by the clock. */
  isOver(day: number, now: number): boolean;
  /** Drops those of its days that are over, one after the other. */
  drop(run: Transactions, over: readonly Over[]): AsyncGenerator<[Over, Ending]>;
}

const tables: readonly KeptTable[] = [
  {
    name: "adbind_job_bodies",
    column: "at",
    written: ({ now }) => dayOf(now),
    isOver: (day, now) => day + BODY_DAYS < dayOf(now),
    async *drop(run, over) {
      if (over.length === 0) return;
      const needed = await neededBefore(run, over.at(-1)!.day + 1);
      for (const one of over) yield [one, await dropBodies(run, one, needed.get(one.day) ?? 0)];
    },
  },
  {
    name: "adbind_activity",
    column: "expires",
    // Rows expire with the last millisecond of a day.
    written: ({ now, activityDays }) => dayOf(now) + activityDays,
    isOver: (day, now) => dayStart(day + 1) <= now,
    async *drop(run, over) {
      for (const one of over) {
        await dropDay(run, one);
        yield [one, { dropped: true }];
      }
    },
  },
];

async function keepTable(run: Transactions, table: KeptTable, request: KeptRequest): Promise<PartitionsKept> {
  const [made, dropped, left]: [string[], string[], PartitionLeft[]] = [[], [], []];
  const there = await run.patient((tx) => daysThere(tx, table));
  await forgetLooked(run, table);
  const written = table.written(request);
  for (let day = written; day <= written + request.days; day++) {
    if (there.has(day)) continue;
    const name = partitionOf({ ...table, day });
    const why = await makeDay(run, { ...table, day }, written);
    if (why === undefined) made.push(name);
    else left.push({ name, why });
  }
  const over = [...there].filter(([day]) => table.isOver(day, request.now));
  for (const [, { name, foreign }] of over)
    if (foreign !== null)
      left.push({ name, why: `it is ${foreign}'s, who may drop it, or give it away (alter table ... owner to ...)` });
  const days = over
    .filter(([, { foreign }]) => foreign === null)
    .map(([day, { name: partition }]): Over => ({ ...table, day, partition }));
  for await (const [{ partition }, outcome] of table.drop(run, days)) {
    if (outcome.dropped) dropped.push(partition);
    if (outcome.left !== undefined) left.push(outcome.left);
  }
  return { made, dropped, left };
}

/** Not that of the machine we run on: it may be a desk's, and what is dropped is gone. */
async function serverNow(tx: pg.ClientBase): Promise<number> {
  return (await ask<{ now: number }>(tx, `select ${CLOCK} as now`)).rows[0]!.now;
}

/**
 * @param transaction runs work in a transaction of its own; two of them are open at a time
 * @throws AdbindError `database_busy` where others do the same, or leave a transaction open; what was done before is done
 */
export const keepPartitions = (
  transaction: <T>(work: ClientWork<T>, lockTimeoutMs?: number) => Promise<T>,
  request: PartitionsRequest,
): Promise<PartitionsKept> =>
  transaction(async (turn) => {
    // Two of this command at a time would make the same. It holds nothing else meanwhile.
    await ask(turn, "set local idle_in_transaction_session_timeout = 0");
    await ask(turn, "select pg_advisory_xact_lock(hashtext('adbind partitions'))");
    const run = transactionsOn(transaction);
    const now = request.now ?? (await serverNow(turn));
    const kept: PartitionsKept[] = [];
    for (const table of tables) kept.push(await keepTable(run, table, { ...request, now }));
    return {
      made: kept.flatMap(({ made }) => made),
      dropped: kept.flatMap(({ dropped }) => dropped),
      left: kept.flatMap(({ left }) => left),
    };
  });
