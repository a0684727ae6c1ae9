/** What a call is made with, by whichever file of it. */

import type { Exchange } from "./exchange.js";
import type { Intent, Intents } from "./intents.js";
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
export interface CallingOptions extends CallOptions {
  readonly nativeTaskId?: string | undefined;
  /**
   * Of a call that goes on with a task: what the operation of the first one is made of, since the task keeps its webhooks; and the
   * key of the call whose question it answers.
   */
  readonly operationOf?: { readonly key: string | undefined; readonly answers: string | undefined };
  /** Questions that were answered before it. */
  readonly questions?: number;
  /** The very call that was kept, to be made again. */
  readonly again?: Intent | undefined;
}
