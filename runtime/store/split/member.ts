/** One database of a set, as an instance uses it: opened when it can be, and told of when it cannot. */
import { databaseTime } from "../../db/database-time.js";
import { type AnyDatabase, isPassingFault } from "../../db/open.js";
import type { Database } from "../../db/types.js";
import { AdbindError } from "../../errors.js";

/** Pause before a database that was away is asked again by what can do without it, in milliseconds. */
const AWAY_MS = 1_000;

/** A database as an application gives it. */
export interface SplitDatabase<D extends Database = AnyDatabase> {
  /** 1 to 63 of `a-z0-9._-`; it is what keyspaces are hashed with, and stays when the database moves to another host. */
  readonly name: string;
  /** Open already, or what opens it: called again after a pause where it fails. */
  readonly database: D | (() => Promise<D>);
}

/** Whether a database of a set could be used when it was last asked. */
export interface DatabaseHealth {
  readonly name: string;
  readonly reachable: boolean;
}

/** Told when a database stops answering and when it answers again. */
export type HealthListener = (health: DatabaseHealth, error?: unknown) => void;

export interface SetMember<P> {
  readonly name: string;
  readonly health: DatabaseHealth;
  /** It was away a moment ago: what can do without it does. */
  readonly away: boolean;
  /** @throws what the database throws, `database_unreachable` while it cannot be opened */
  use<T>(work: (part: P, database: Database) => Promise<T>): Promise<T>;
  /** Closes it where it is open. */
  close(): Promise<void>;
}

/** Whether it says of a database that it cannot be reached now, whatever is asked of it. */
export const isAway = (error: unknown): boolean =>
  isPassingFault(error) && !(error instanceof AdbindError && error.code === "database_busy");

/**
 * @param make what is used of the database, made once
 * @param tell told of each change
 */
export function splitMember<P, D extends Database>(
  { name, database }: SplitDatabase<D>,
  make: (database: D) => P,
  tell: HealthListener,
): SetMember<P> {
  let opened: Promise<{ readonly part: P; readonly database: D }> | undefined;
  let awaySince: number | undefined;
  let last: unknown;
  const note = (error?: unknown): void => {
    const before = awaySince !== undefined;
    awaySince = error === undefined ? undefined : performance.now();
    last = error;
    if (before !== (error !== undefined)) tell({ name, reachable: error === undefined }, error);
  };
  const open = async (): Promise<{ readonly part: P; readonly database: D }> => {
    const given = typeof database === "function" ? await database() : database;
    return { part: make(given), database: given };
  };
  const isResting = (): boolean => awaySince !== undefined && performance.now() - awaySince < AWAY_MS;
  const reach = async (): Promise<{ readonly part: P; readonly database: D }> => {
    // Opening takes as long as a connection may: one try serves all who wait for it, and a pause goes before the next.
    if (opened === undefined && isResting()) throw last;
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      note(error);
      throw error;
    });
    return opened;
  };
  return {
    name,
    get health() {
      return { name, reachable: awaySince === undefined };
    },
    get away() {
      return isResting();
    },
    async use(work) {
      const reached = await reach();
      try {
        const value = await work(reached.part, reached.database);
        note();
        return value;
      } catch (error) {
        if (isAway(error)) note(error);
        throw error;
      }
    },
    async close() {
      const reached = await opened?.catch(() => undefined);
      await reached?.database.close();
    },
  };
}

/** One clock for a whole set, in unix milliseconds: that of the first database, by name, that answers and has one. */
export async function sharedClock<P>(members: ReadonlyMap<string, SetMember<P>>): Promise<(() => number) | undefined> {
  for (const name of [...members.keys()].toSorted()) {
    try {
      return await members.get(name)!.use(async (_, one) => (one.shared ? databaseTime(one) : undefined));
    } catch (error) {
      if (!isAway(error)) throw error;
    }
  }
  return undefined;
}
