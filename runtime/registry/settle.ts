/** Ends of changes: the clock moves on, and profiles are computed again, at once or a part at a time. */
import type { Coroutine } from "../db/coroutine.js";
import type { Database, Query } from "../db/types.js";
import { anyDirty, count, recountMembers, takeDirty, tick } from "../store/registry-profiles.js";
import { noteChanges } from "./feed/changes.js";
import { computeProfiles } from "./profile.js";
import type { Written } from "./publisher-write.js";

/** Profiles computed in one transaction: it holds the registry's clock meanwhile. */
const SETTLE_AGENTS = 2_000;

/** Ends a transaction that wrote publishers: from the tick on, such transactions take turns. */
export function* finish(
  q: Query,
  written: Pick<Written, "agents" | "counts"> & Partial<Pick<Written, "publishers">>,
  now: number,
): Coroutine<number> {
  const seq = yield* tick(q);
  yield* count(q, written.counts);
  yield* noteChanges(q, written.publishers ?? [], { seq, now });
  return yield* computeProfiles(q, written.agents, seq, now);
}

/** Computes profiles that wait, some hundred in each transaction. */
export async function settleProfiles(
  db: Database,
  now: () => number,
  progress: (settled: number) => void = () => undefined,
): Promise<number> {
  for (let settled = 0; ; ) {
    if (!(await db.query(anyDirty))) return settled;
    const taken = await db.write(function* (q): Coroutine<number> {
      const seq = yield* tick(q);
      const agents = yield* takeDirty(q, SETTLE_AGENTS);
      yield* computeProfiles(q, agents, seq, now());
      return agents.length;
    });
    settled += taken;
    progress(settled);
  }
}

/** Counts members' agents and domains after many came one by one. */
export const settleMembers = (db: Database): Promise<void> =>
  db.write(function* (q): Coroutine<void> {
    yield* tick(q);
    yield* recountMembers(q);
  });
