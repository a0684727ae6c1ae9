/** What agents said when they were asked, as answers tell it. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { type ProbeRow, probesOf } from "../store/registry-probes.js";
import type { ListedAgent } from "./listed-types.js";
import { iso } from "./model.js";

const healthOf = (row: ProbeRow): NonNullable<ListedAgent["health"]> => ({
  online: row.online === 1,
  checked_at: iso(row.probed_at!),
  ...(row.last_seen !== null && { last_seen_at: iso(row.last_seen) }),
  ...(row.response_ms !== null && { response_time_ms: row.response_ms }),
  ...(row.tools_count !== null && { tools_count: row.tools_count }),
  ...(row.error !== null && { error: row.error }),
});

function capabilitiesOf(row: ProbeRow): ListedAgent["capabilities"] {
  if (row.tools === null) return undefined;
  const tools = JSON.parse(row.tools) as string[];
  return {
    tools_count: row.tools_count ?? tools.length,
    // Clients of other registries want one each.
    tools: tools.map((name) => ({ name, description: "" })),
    ...(row.capabilities !== null && { declared: JSON.parse(row.capabilities) as Record<string, unknown> }),
  };
}

type Said = Pick<ListedAgent, "protocol" | "health" | "capabilities">;

/** What is told of agents that were asked, by their numbers. */
export function* saidOf(
  q: Query,
  agents: readonly number[],
  wanted: { readonly health?: boolean | undefined; readonly capabilities?: boolean | undefined },
): Coroutine<Map<number, Said>> {
  if (!wanted.health && !wanted.capabilities) return new Map();
  const said = new Map<number, Said>();
  for (const row of yield* probesOf(q, agents)) {
    const capabilities = wanted.capabilities ? capabilitiesOf(row) : undefined;
    said.set(row.agent, {
      ...((row.transport === "mcp" || row.transport === "a2a") && { protocol: row.transport }),
      ...(wanted.health && { health: healthOf(row) }),
      ...(capabilities !== undefined && { capabilities }),
    });
  }
  return said;
}
