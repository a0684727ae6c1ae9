/**
 * What time it is for what expires. A clock that jumps ahead would remove keys and nonces that are still in their window,
 * and with them the memory of events that were handled. So the store remembers how late it was: across a jump, time goes on
 * from there for one window, and only then is the new time believed.
 */
import { DAY_MS } from "./rows.js";

/** A row of `adbind_clock`; unix milliseconds. */
export interface ClockMark {
  /** The latest reading. */
  readonly mark: number;
  /** How much of the present reading is not believed. */
  readonly lag: number;
  /** When all of it is. */
  readonly until: number;
}

/** Reads it: one text for every engine. */
export const CLOCK_MARK = "select mark, lag, until from adbind_clock where id = 1";
/** Writes it; parameters: mark, lag, until. One text for every engine. */
export const MARK_CLOCK =
  "insert into adbind_clock (id, mark, lag, until) values (1, ?, ?, ?) on conflict (id) do update set " +
  "mark = excluded.mark, lag = excluded.lag, until = excluded.until";

/** What passes between two readings without a jump, in milliseconds: instances restart, and their clocks differ. */
const JUMP_MS = 600_000;
/** A mark is written again when it is this old, in milliseconds. */
const MARK_MS = 60_000;
/** How long a reading is good for without asking the store, in milliseconds. */
export const READING_MS = 1_000;

export interface ClockReading {
  /** What time it is for what expires. */
  readonly at: number;
  /** The mark to write, where it has changed. */
  readonly next?: ClockMark;
}

/** @param now unix milliseconds, of the caller's clock */
export function readClock(held: ClockMark | undefined, now: number): ClockReading {
  if (held === undefined || now < held.mark - JUMP_MS) return { at: now, next: { mark: now, lag: 0, until: 0 } };
  const lag = now >= held.until ? 0 : held.lag;
  if (now > held.mark + JUMP_MS) {
    const jumped = lag + now - held.mark;
    return { at: now - jumped, next: { mark: now, lag: jumped, until: now + DAY_MS } };
  }
  const changed = lag !== held.lag || now >= held.mark + MARK_MS;
  const mark = Math.max(held.mark, now);
  return { at: now - lag, ...(changed && { next: { mark, lag, until: lag === 0 ? 0 : held.until } }) };
}
