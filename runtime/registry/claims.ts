/** What agents say of themselves: told as their claim, and nobody's authorization. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { ensureAgents, lockAgents } from "../store/registry-agents.js";
import { tick } from "../store/registry-clock.js";
import { optedOutAmong } from "../store/registry-opt-outs.js";
import { addCounts } from "../store/registry-profiles.js";
import { addEdges, lockPublishers, removeClaims } from "../store/registry-publishers.js";
import { removeUnnamed } from "../store/registry-unnamed.js";
import { byCodePoint } from "./model.js";
import { projectEdges } from "./project.js";
import type { AgentClaim } from "./types.js";

type Claims = ReadonlyMap<string, AgentClaim>;

/** Of a publisher whose owner wants nothing told, nobody's claim is. */
function* withoutOptedOutClaims(q: Query, claims: Claims): Coroutine<Claims> {
  const out = yield* optedOutAmong(q, [...claims.keys()]);
  return new Map([...claims].filter(([domain]) => !out.has(domain)));
}

/** Keeps what an agent says of itself, in place of what it said before. */
export function* putClaims(q: Query, url: string, claims: Claims, now: number): Coroutine<void> {
  const wanted = yield* withoutOptedOutClaims(q, claims);
  const rows = yield* lockPublishers(q, [...wanted.keys()].sort(byCodePoint));
  // Once more: an owner may have opted out, and have had all that ended, while the locks were waited for.
  const kept = [...(yield* withoutOptedOutClaims(q, wanted))];
  // After publishers, as who writes a file makes agents: of two who make the same one, neither holds what the other waits for.
  const agent = (yield* ensureAgents(q, [url])).get(url)!;
  yield* lockAgents(q, [agent]);
  const removed = yield* removeClaims(q, [url]);
  const edges = kept.flatMap(([domain, { authorizedFor }]) =>
    projectEdges(
      { properties: [], agents: [{ agentUrl: url, authorizedFor, authorizationType: null }] },
      { source: "agent_claim", claimant: url, now },
    ).map(({ agentUrl: _, ...edge }) => ({ ...edge, agent, publisher: rows.get(domain)!.id })),
  );
  yield* addEdges(q, edges);
  const before = [...removed.map(({ publisher }) => publisher), ...[...rows.values()].map(({ id }) => id)];
  yield* removeUnnamed(q, before, new Set(edges.map(({ publisher }) => publisher)));
  yield* tick(q);
  yield* addCounts(q, [{ kind: "authorizations", name: "agent_claim", by: edges.length - removed.length }]);
}
