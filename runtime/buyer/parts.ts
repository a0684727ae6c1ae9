/** What a call is made with, by whichever file of it. */
import type { Agreements } from "./agreement.js";
import type { Exchange } from "./exchange.js";
import type { Intents } from "./intents.js";
import type { Judge } from "./judge.js";
import type { Settings } from "./settings.js";

export interface CallParts {
  readonly settings: Settings;
  readonly exchange: Exchange;
  readonly agreements: Agreements;
  readonly judge: Judge;
  /** Undefined where none are kept. */
  readonly intents: Intents | undefined;
}
