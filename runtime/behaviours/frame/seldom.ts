import type { BehaviourSettings } from "./call.js";

/**
 * For upkeep that need not be done as often as it is asked for.
 * @param pauseMs milliseconds between two times
 * @returns whether it is time again, for a seller
 */
export function seldom(pauseMs: number): (settings: BehaviourSettings, now?: number) => boolean {
  const last = new WeakMap<BehaviourSettings, number>();
  return (settings, now = Date.now()) => {
    const before = last.get(settings);
    if (before !== undefined && now - before < pauseMs) return false;
    last.set(settings, now);
    return true;
  };
}
