/**
 * The clock of the database's server, as a process that works on it may go by: due times, pauses and ages that one instance writes are read
 * by all others, and the clock of one machine may be an hour off. Between two looks the process's own time goes on, which no
 * setting of a clock moves.
 */
import type { Database } from "./types.js";

/** Between two looks at the server's clock, in milliseconds. */
const LOOK_MS = 10_000;
/** Until the next one after one that failed: connections of a machine that was suspended are dead, and its time is wrong until then. */
const FAILED_MS = 1_000;
/** What a clock is adjusted by at once, in milliseconds: beyond it the machine was suspended, or its clock was set. */
const SUSPENDED_MS = 1_000;
/** What clocks differ by all the time, in milliseconds: time does not go back for that. */
const SLACK_MS = 100;

/** What the server's clock is ahead of the process's own time by, and by how much that may be wrong, in milliseconds. */
interface ServerOffset {
  readonly offset: number;
  readonly within: number;
}

/**
 * @returns unix milliseconds by the server's clock; while that cannot be asked, as they go on from the last look
 * @throws what the first look throws
 */
export async function databaseTime(database: Pick<Database, "dialect" | "query">): Promise<() => number> {
  const text = `select ${database.dialect.clock} as at`;
  const look = async (): Promise<ServerOffset> => {
    const asked = performance.now();
    const [row] = await database.query((q) => q.rows<{ at: number }>(text));
    const half = (performance.now() - asked) / 2;
    return { offset: row!.at - asked - half, within: half };
  };
  let { offset } = await look();
  let next = performance.now() + LOOK_MS;
  // The process's own time stands still while its machine is suspended, and the system's clock does not.
  const apart = (): number => Date.now() - performance.now();
  let before = apart();
  const lookAgain = async (): Promise<void> => {
    const found = await look();
    // The server may have said it at any time until the answer came: of a pool that was busy for seconds that is no news.
    if (Math.abs(found.offset - offset) > SLACK_MS + found.within) offset = found.offset;
  };
  return () => {
    const own = performance.now();
    if (own >= next || Math.abs(apart() - before) > SUSPENDED_MS) {
      [next, before] = [own + LOOK_MS, apart()];
      lookAgain().catch(() => {
        next = Math.min(next, performance.now() + FAILED_MS);
      });
    }
    return Math.round(own + offset);
  };
}

/**
 * The clock of those who work on a database that was just opened for them.
 * @returns undefined where each machine has its own
 * @throws as `databaseTime`; it is closed then
 */
export async function clockOfOpened(
  database: Pick<Database, "dialect" | "query" | "shared" | "close">,
): Promise<(() => number) | undefined> {
  if (!database.shared) return undefined;
  try {
    return await databaseTime(database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * The clock that all who work on a database go by.
 * @param given one to go by instead
 * @returns unix milliseconds: by the server's clock where machines share the database, else by the system's
 * @throws as `databaseTime`
 */
export const clockOf = async (
  database: Pick<Database, "dialect" | "query" | "shared">,
  given?: () => number,
): Promise<() => number> => given ?? (database.shared ? await databaseTime(database) : Date.now);
