/** What becomes of the conversions that buyers send. */
import type { JsonObject } from "../../contract/index.js";
import type { CallsUpstream } from "./upstream.js";

/** Where conversion events go. Yours to answer. */
export interface EventsPort extends CallsUpstream {
  /** Takes events of one source that were in order; each is handed over at least once, under its id. */
  take(events: readonly JsonObject[], of: { readonly principal: string; readonly sourceId: string }): Promise<void>;
}

/** EventsPort are kept as documents, and nothing else is done with them. */
export const keptEvents: EventsPort = { take: async () => undefined };
