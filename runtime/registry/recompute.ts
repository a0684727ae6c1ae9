/** Ends of changes: the clock moves on, and profiles are computed again, at once or a part at a time. */
import type { Coroutine } from "../db/coroutine.js";
import type { Database, Query } from "../db/types.js";
import { lockAgents } from "../store/registry-agents.js";
import { tick } from "../store/registry-clock.js";
import {
  addCounts,
  anyDirty,
  clearDirty,
  dirtyAgents,
  foldCounts,
  recountMembers,
} from "../store/registry-profiles.js";
import { noteChanges } from "./feed/changes.js";
import { computeProfiles } from "./profile.js";
import type { Written } from "./publisher-write.js";

/** Profiles computed in one transaction: it holds their agents meanwhile. */
const RECOMPUTE_AGENTS = 2_000;

/** Ends a transaction that wrote publishers, and holds them: its change gets its number, and profiles are computed again. */
export function* finish(
  q: Query,
  written: Pick<Written, "agents" | "counts"> & Partial<Pick<Written, "publishers">>,
  now: number,
): Coroutine<number> {
  // Whoever changes one of these agents meanwhile waits, and then sees this; or was first, and is seen.
  yield* lockAgents(q, written.agents);
  const seq = yield* tick(q);
  yield* noteChanges(q, written.publishers ?? [], { seq, now });
  const computed = yield* computeProfiles(q, written.agents, seq, now);
  yield* addCounts(q, [...written.counts, ...computed.counts]);
  return computed.profiles;
}

/** Computes profiles that wait, some hundred in each transaction. */
export async function recomputeProfiles(
  db: Database,
  now: () => number,
  progress: (recomputed: number) => void = () => undefined,
): Promise<number> {
  for (let recomputed = 0; ; ) {
    if (!(await db.query(anyDirty))) return recomputed;
    const taken = await db.write(function* (q): Coroutine<number> {
      const agents = yield* dirtyAgents(q, RECOMPUTE_AGENTS);
      yield* lockAgents(q, agents);
      yield* clearDirty(q, agents);
      const seq = yield* tick(q);
      yield* addCounts(q, (yield* computeProfiles(q, agents, seq, now())).counts);
      return agents.length;
    });
    recomputed += taken;
    progress(recomputed);
  }
}

/** Counts members' agents and domains after many came one by one. */
export const recomputeMembers = (db: Database): Promise<void> =>
  db.write(function* (q): Coroutine<void> {
    yield* tick(q);
    yield* recountMembers(q);
    yield* foldCounts(q);
  });
