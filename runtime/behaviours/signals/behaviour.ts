import type { Behaviour } from "../frame/behaviour.js";
import { activateSignal } from "./activate.js";
import { findSignals } from "./find.js";

/** Signals, found and brought to where they are used. */
export const signalsBehaviour: Behaviour = {
  area: "signals",
  needs: ["accounts"],
  tools: { get_signals: findSignals, activate_signal: activateSignal },
  capabilities: () => ({ signals: { features: { catalog_signals: true } } }),
};
