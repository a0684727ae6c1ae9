/** What a caller does after an error: the class first, then how long to wait; a delay alone is no leave to try again. */
import { type ErrorTable, isJsonObject, type Recovery, recoveries } from "../contract/index.js";
import { retryAfterSeconds } from "./transport-error.js";

/** Whether a failed call is tried again, and after how many seconds. */
export interface RetryDecision {
  readonly recovery: Recovery;
  readonly action: "retry" | "stop_retrying" | "correct_request" | "escalate";
  /** Seconds to wait at least, where the error says so and it is tried again. */
  readonly afterSeconds?: number;
}

/** What the caller knows: the release's table of codes, and how often it may try. */
export interface RetryState {
  readonly errors: ErrorTable;
  readonly defaultUnknownRecovery: Recovery;
  /** Tries after the first that were made, and that may be. */
  readonly retried: number;
  readonly maxRetries: number;
}

/** Decides what to do about an error as it came. */
export function retryDecision(error: unknown, state: RetryState): RetryDecision {
  const subject = isJsonObject(error) ? error : {};
  const recovery = recoveries(state.errors, state.defaultUnknownRecovery)(subject);
  if (recovery === "correctable") return { recovery, action: "correct_request" };
  if (recovery === "terminal") return { recovery, action: "escalate" };
  if (state.retried >= state.maxRetries) return { recovery, action: "stop_retrying" };
  const afterSeconds = retryAfterSeconds(subject);
  return { recovery, action: "retry", ...(afterSeconds !== undefined && { afterSeconds }) };
}
