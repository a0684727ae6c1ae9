/** Refusals as log lines: each sender's first ones whole, and how many were left out; nobody fills a disk by being refused. */
import type { Logger } from "../log.js";

/** Lines about one sender in a minute; strangers share theirs. */
const LINES = 10;
const MINUTE_MS = 60_000;
/** Senders remembered; beyond this the memory starts anew. */
const SENDERS = 10_000;

export interface RefusalTold {
  readonly code: string;
  /** Step of the verifier, what it found, the keyid, the size: whatever is known, and safe to log. */
  readonly about: { readonly sender?: string };
}

export type RefusalLog = (refusal: RefusalTold) => void;

/** @param now unix milliseconds */
export function refusalLog(log: Logger, now: () => number): RefusalLog {
  const minutes = new Map<string, { begun: number; told: number; left: number }>();
  return ({ code, about }) => {
    const sender = about.sender ?? "";
    const at = now();
    const minute = minutes.get(sender);
    if (minute !== undefined && Math.abs(at - minute.begun) < MINUTE_MS) {
      if (minute.told >= LINES) {
        minute.left += 1;
        return;
      }
      minute.told += 1;
    } else {
      if (minutes.size >= SENDERS) minutes.clear();
      minutes.set(sender, { begun: at, told: 1, left: 0 });
    }
    const left = minute?.left ?? 0;
    if (left > 0 && minute !== undefined) minute.left = 0;
    log.warn({ code, ...about, ...(left > 0 && { untold: left }) }, "webhook refused");
  };
}
