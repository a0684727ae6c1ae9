import { logEvents } from "../domain/events/log.js";
import type { Handler } from "../handler.js";

/** Conversions, each counted once. */
export const logEvent: Handler<"log_event"> = (request, call) => call.answer(logEvents(call, request));
