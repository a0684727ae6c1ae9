import { syncEventSources as sync } from "../domain/events/sources.js";
import type { Handler } from "../handler.js";

/** Where a buyer's conversions come from. */
export const syncEventSources: Handler<"sync_event_sources"> = (request, call) => call.answer(sync(call, request));
