/** Deadlines of what an application is asked: one of its functions that hangs holds up what needs its answer, and nothing else. */
import type { MaybePromise } from "../contract/index.js";
import { isPromise } from "../db/index.js";
import type { Fetcher } from "../net/index.js";

/** How long a function of an application may take, in milliseconds. */
export const CALLBACK_MS = { default: 30_000, max: 600_000 } as const;
/** What a fetch of an application may take longer than it is told to, in milliseconds. */
const FETCH_SLACK_MS = 5_000;

/** Something that was asked had not answered by its deadline. */
export class LateAnswer extends Error {
  constructor(who: string, limitMs: number) {
    super(`${who} did not answer in ${limitMs} ms`);
  }
}

/** What an answer is waited for, at most. */
export interface WaitBounds {
  /** Milliseconds. */
  readonly limitMs: number;
  /** Whoever is asked, for messages. */
  readonly who: string;
  /** Ends the wait as well. */
  readonly stopping?: AbortSignal | undefined;
}

/** @throws LateAnswer past the deadline, or where the wait is to end; what was asked goes on, and its answer counts for nothing */
export async function inTime<T>(asked: MaybePromise<T>, { limitMs, who, stopping }: WaitBounds): Promise<T> {
  if (!isPromise(asked)) return asked;
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(new LateAnswer(who, limitMs));
  const timer = setTimeout(end, limitMs);
  if (stopping?.aborted === true) end();
  stopping?.addEventListener("abort", end);
  try {
    return await Promise.race([asked, promise]);
  } finally {
    clearTimeout(timer);
    stopping?.removeEventListener("abort", end);
  }
}

/** A fetch of an application's, held to the limits it is given: beyond them the exchange has timed out. */
export const fetchInTime =
  (fetch: Fetcher): Fetcher =>
  async (url, request = {}) => {
    const totalMs = request.timeouts?.totalMs;
    if (totalMs === undefined) return fetch(url, request);
    try {
      return await inTime(fetch(url, request), { limitMs: totalMs + FETCH_SLACK_MS, who: "fetch" });
    } catch (error) {
      if (!(error instanceof LateAnswer)) throw error;
      return { ok: false, code: "total_timeout", retryable: true, detail: error.message };
    }
  };
