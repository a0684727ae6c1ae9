/** The time for what expires, as the file remembers it. */
import type { Database } from "better-sqlite3";
import { type ClockMark, readClock } from "../sweep-clock.js";

/** Inside the caller's transaction: what time it is for what expires, in unix milliseconds. */
export type ExpiryTime = (now: number) => number;

export function sqliteExpiryTime(db: Database): ExpiryTime {
  const select = db.prepare<[], ClockMark>("select mark, lag, until from adbind_clock where id = 1");
  const write = db.prepare("insert or replace into adbind_clock (id, mark, lag, until) values (1, ?, ?, ?)");
  return (now) => {
    const { at, next } = readClock(select.get(), now);
    if (next !== undefined) write.run(next.mark, next.lag, next.until);
    return at;
  };
}
