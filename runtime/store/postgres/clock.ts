/** The time for what expires, as the database remembers it. */
import { sql } from "../../db/postgres/sql.js";
import { type ClockMark, READING_MS, readClock } from "../sweep-clock.js";
import type { Db } from "./tables.js";

/** What time it is for what expires, in unix milliseconds. */
export type ExpiryTime = (now: number) => Promise<number> | number;

export function postgresExpiryTime(db: Db): ExpiryTime {
  let last: { readonly now: number; readonly lag: number } | undefined;
  const ask = async (now: number): Promise<number> => {
    const held = await sql<ClockMark>`select mark, lag, until from adbind_clock where id = 1`.first(db);
    const { at, next } = readClock(held, now);
    if (next !== undefined) {
      await sql`
        insert into adbind_clock (id, mark, lag, until) values (1, ${next.mark}, ${next.lag}, ${next.until})
        on conflict (id) do update set mark = excluded.mark, lag = excluded.lag, until = excluded.until`.run(db);
    }
    last = { now, lag: now - at };
    return at;
  };
  return (now) => (last !== undefined && Math.abs(now - last.now) < READING_MS ? now - last.lag : ask(now));
}
