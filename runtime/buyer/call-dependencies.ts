/** What a call is made with, by whichever file of it. */

import { timerMs } from "../timers.js";
import type { CallThread } from "./call-thread.js";
import type { Exchange } from "./exchange.js";
import type { Intent } from "./intent.js";
import type { Intents } from "./intents.js";
import type { MessageValidation } from "./message-validation.js";
import type { Negotiation } from "./negotiation.js";
import type { BuyerSettings } from "./settings.js";
import type { CallOptions } from "./types.js";

export interface BuyerCallDependencies {
  readonly settings: BuyerSettings;
  readonly exchange: Exchange;
  readonly negotiation: Negotiation;
  readonly validation: MessageValidation;
  /** Undefined where none are kept. */
  readonly intents: Intents | undefined;
}

/** What a call may be told beside what its caller says. */
export interface CallingOptions extends CallOptions, CallThread {
  /** The very call that was kept, to be made again. */
  readonly again?: Intent | undefined;
}

/** A call's options with the signal of its own time among what ends it. @returns that signal, too, where it has one */
export function timed(options: CallingOptions): readonly [options: CallingOptions, late: AbortSignal | undefined] {
  const { signal, deadlineMs } = options;
  if (deadlineMs === undefined) return [options, undefined];
  const late = AbortSignal.timeout(timerMs(deadlineMs));
  return [{ ...options, signal: signal === undefined ? late : AbortSignal.any([signal, late]) }, late];
}
