import type { Upkeep } from "./behaviour.js";
import type { BehaviourSettings } from "./call.js";

/**
 * Upkeep that need not be done as often as it is asked for. What failed is done again at once: it is not over by its time, and
 * whoever is told that it works again is told the truth.
 * @param pauseMs milliseconds between two times, for each seller
 */
export function seldom(pauseMs: number, work: (upkeep: Upkeep) => Promise<void>): (upkeep: Upkeep) => Promise<void> {
  const last = new WeakMap<BehaviourSettings, number>();
  return async (upkeep) => {
    const begun = Date.now();
    const before = last.get(upkeep.settings);
    if (before !== undefined && begun - before < pauseMs) return;
    await work(upkeep);
    last.set(upkeep.settings, begun);
  };
}
