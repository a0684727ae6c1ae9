/** The time for what expires, as the database remembers it. */
import { CLOCK_MARK, type ClockMark, MARK_CLOCK, READING_MS, readClock } from "../sweep-clock.js";
import type { Db } from "./tables.js";

/** What time it is for what expires, in unix milliseconds. */
export type ExpiryTime = (now: number) => Promise<number> | number;

export function postgresExpiryTime(db: Db): ExpiryTime {
  let last: { readonly now: number; readonly lag: number } | undefined;
  const ask = async (now: number): Promise<number> => {
    const [held] = await db.query((q) => q.rows<ClockMark>(CLOCK_MARK, []));
    const { at, next } = readClock(held, now);
    if (next !== undefined) await db.query((q) => q.run(MARK_CLOCK, [next.mark, next.lag, next.until]));
    last = { now, lag: now - at };
    return at;
  };
  return (now) => (last !== undefined && Math.abs(now - last.now) < READING_MS ? now - last.lag : ask(now));
}
