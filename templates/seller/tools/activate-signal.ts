import { activateSignal as activate } from "../domain/signals/activate.js";
import type { Handler } from "../handler.js";

/** Brings a signal to platforms and agents, or takes it away. */
export const activateSignal: Handler<"activate_signal"> = (request, call) => call.answer(activate(call, request));
