/** The time for what expires, as the file remembers it. */
import type { Database } from "better-sqlite3";
import { CLOCK_MARK, type ClockMark, MARK_CLOCK, readClock } from "../sweep-clock.js";

/** Inside the caller's transaction: what time it is for what expires, in unix milliseconds. */
export type ExpiryTime = (now: number) => number;

export function sqliteExpiryTime(db: Database): ExpiryTime {
  const select = db.prepare<[], ClockMark>(CLOCK_MARK);
  const write = db.prepare(MARK_CLOCK);
  return (now) => {
    const { at, next } = readClock(select.get(), now);
    if (next !== undefined) write.run(next.mark, next.lag, next.until);
    return at;
  };
}
