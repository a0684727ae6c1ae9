/**
 * Numbers of changes, which each engine gives in its way. To add one: a file in its folder, and a row. What readers may rely on
 * is the mark up to which every change is there to be seen; newer numbers may be taken already.
 */
import type { Coroutine } from "../db/coroutine.js";
import type { EngineName } from "../db/open.js";
import type { Query } from "../db/types.js";
import { registryClock as postgresClock } from "./postgres/registry-clock.js";
import { registryClock as sqliteClock } from "./sqlite/registry-clock.js";

interface ClockStatements {
  /** Takes the next number. */
  readonly tick: string;
  /** Looks how far changes can be seen. */
  readonly clock: string;
  /** Answers a row where nobody else is forgetting. */
  readonly takesPruning: string;
}

const engines: Readonly<Record<EngineName, ClockStatements>> = { sqlite: sqliteClock, postgres: postgresClock };

const statementsOf = ({ dialect }: Query): ClockStatements => engines[dialect.engine as EngineName];

export interface ClockRow {
  /** All changes up to this number can be seen by whoever looks from now on. */
  readonly seq: number;
  /** The newest number given: between the two are changes that can be seen and some that cannot yet. */
  readonly last: number;
  /** Moves up to this number are forgotten. */
  readonly pruned: number;
}

/**
 * The number of this transaction's change. Take it late: what comes to be seen after it waits for the end. Whoever changes
 * the same publisher or agent holds it already, so that their numbers are in the order of their ends.
 */
export function* tick(q: Query): Coroutine<number> {
  return (yield* q.rows<{ seq: number }>(statementsOf(q).tick))[0]!.seq;
}

/** How far changes can be seen. To be asked before what is read by it, and not within one state of the database. */
export function* clock(q: Query): Coroutine<ClockRow> {
  return (yield* q.rows<ClockRow>(statementsOf(q).clock))[0]!;
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
  return (yield* q.rows(statementsOf(q).takesPruning)).length > 0;
}

export const noteMovesPruned = (q: Query, through: number): Coroutine<unknown> =>
  q.rows("update adbind_registry_clock set pruned = ? where id = 1", [through]);
