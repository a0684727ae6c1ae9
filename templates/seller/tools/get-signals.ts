import { findSignals } from "../domain/signals/find.js";
import type { Handler } from "../handler.js";

/** Finds signals by name or by description. */
export const getSignals: Handler<"get_signals"> = (request, call) => call.answer(findSignals(call, request));
