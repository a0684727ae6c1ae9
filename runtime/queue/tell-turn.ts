/** What a worker learns of an endpoint, for other instances and for itself after a restart. */
import type { Turn } from "./endpoints.js";
import type { WorkerSettings } from "./worker-options.js";

/**
 * What was learnt of an endpoint is written down: other instances, and this one after a restart, go by it.
 * @param at when it was learnt, in unix milliseconds: by the time this is written the last attempt of others may be due
 */
export async function tellTurn(
  options: WorkerSettings,
  endpoint: string,
  turn: Exclude<Turn, { kind: "same" }>,
  at: number,
): Promise<void> {
  const { queue, giveUpMs = Number.POSITIVE_INFINITY, expireMs = Number.POSITIVE_INFINITY } = options;
  if (turn.kind === "recovered") return queue.pause(endpoint, { pausedUntil: turn.until, failingSince: null });
  const before = await queue.health(endpoint);
  const since = [before.failingSince, turn.failingSince].filter((one) => one !== null);
  const failingSince = since.length === 0 ? null : Math.min(...since);
  await queue.pause(endpoint, { pausedUntil: Math.max(turn.until, before.pausedUntil), failingSince });
  if (failingSince === null) return;
  const failed = at - failingSince;
  const why = "its endpoint has failed for too long";
  const until = async (state: "dead" | "expired", end: () => Promise<number>): Promise<void> => {
    for (let count = await end(); count > 0; count = await end()) options.onGivenUp?.(endpoint, count, state);
  };
  if (failed >= giveUpMs) await until("dead", () => queue.deadLetter(endpoint, at - giveUpMs, why));
  if (failed >= expireMs) await until("expired", () => queue.expire(endpoint, at - expireMs, why));
}
