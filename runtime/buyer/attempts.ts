/** One request, as often as it is of use: what is transient comes again later, and never under another key. */
import type { Failure } from "../contract/index.js";
import { retryAfterSeconds } from "../extract/index.js";
import { type ExchangeResult, firstError } from "./exchange.js";
import type { BuyerSettings } from "./settings.js";

/** Longest delay between attempts, in milliseconds. */
const MAX_DELAY_MS = 60_000;
/** Delays vary by a quarter either way, so that callers of one agent do not come back together. */
const JITTER = 0.25;

/** What the first error asks for, else the usual delay, in milliseconds. */
function delayOf({ retry, random }: BuyerSettings, attempt: number, outcome: ExchangeResult): number {
  const [error] = (outcome.answer.data as Failure).errors;
  const asked = error === undefined ? undefined : retryAfterSeconds(error);
  if (asked !== undefined) return asked * 1000;
  const usual = Math.min(retry.baseMs * 2 ** (attempt - 1), MAX_DELAY_MS);
  return Math.round(usual * (1 - JITTER + 2 * JITTER * random()));
}

/** The agent is at the very call that was made again. */
const isUnderWay = (outcome: ExchangeResult): boolean => firstError(outcome)?.code === "IDEMPOTENCY_IN_FLIGHT";

/** Refusals of a tool that never came to look whether it has done the call before, or that it may have done it. */
const sayNothing: ReadonlySet<string | undefined> = new Set([
  "AUTH_REQUIRED",
  "AUTH_MISSING",
  "AUTH_INVALID",
  "VERSION_UNSUPPORTED",
  "IDEMPOTENCY_CONFLICT",
  "IDEMPOTENCY_EXPIRED",
]);

/**
 * An attempt that was not heard of may be carried out: that a later one was put off, or kept from the tool, says nothing of it.
 */
function stillOpen(outcome: ExchangeResult): ExchangeResult {
  const error = firstError(outcome);
  const unjudged = outcome.payload === null || sayNothing.has(error?.code) || outcome.recovery === "transient";
  return error !== undefined && unjudged ? { ...outcome, lost: true } : outcome;
}

interface Repeating {
  readonly signal: AbortSignal | undefined;
  readonly mayRepeat: (outcome: ExchangeResult) => boolean;
  /** There was an attempt before, and what became of it is not known. */
  readonly unheard?: boolean;
}

/** Sends until there is an answer to give, or no more use in sending. */
export async function repeat(
  settings: BuyerSettings,
  { signal, mayRepeat, unheard: before = false }: Repeating,
  send: (attempt: number) => Promise<ExchangeResult>,
): Promise<{ readonly outcome: ExchangeResult; readonly attempts: number }> {
  const { retry, elapsed, pause } = settings;
  const started = elapsed();
  let unheard = before;
  for (let attempt = 1; ; attempt++) {
    const outcome = await send(attempt);
    unheard ||= outcome.lost;
    const done = { outcome: unheard || isUnderWay(outcome) ? stillOpen(outcome) : outcome, attempts: attempt };
    if (outcome.recovery !== "transient" || attempt >= retry.attempts) return done;
    if (!mayRepeat(outcome)) return done;
    const delay = delayOf(settings, attempt, outcome);
    if (elapsed() + delay - started > retry.totalMs) return done;
    await pause(delay, signal);
    if (signal?.aborted) return done;
  }
}
