/** From an identifier or an agent back to publishers. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { agentsByUrl } from "../store/registry-agents.js";
import {
  type AgentEdgeRow,
  edgesOf,
  propertiesOfIdentifier,
  publishersById,
  publishersOfAgent,
} from "../store/registry-lookups.js";
import { byCodePoint, identifierValue, isoOrNull } from "./model.js";
import { counting, coverage, covers, knownProperty, standing } from "./publisher.js";
import type {
  AgentPublishers,
  AuthorizationSource,
  DiscoveryMethod,
  Page,
  PageRequest,
  PropertyAgents,
} from "./types.js";

/** Agents that publishers let sell the property of an identifier, by domain and URL. */
export function* lookupProperty(
  q: Query,
  type: PropertyAgents["type"],
  value: string,
  now: number,
): Coroutine<PropertyAgents> {
  const rows = yield* propertiesOfIdentifier(q, type, identifierValue(value));
  const ids = [...new Set(rows.map(({ publisher }) => publisher))];
  const agents: PropertyAgents["agents"][number][] = [];
  for (const publisher of yield* publishersById(q, ids)) {
    const named = rows.filter((row) => row.publisher === publisher.id).map(knownProperty);
    const properties = counting(named, publisher.valid === 1);
    for (const { edge, covered } of standing(yield* edgesOf(q, [publisher.id]), publisher.valid === 1, now)) {
      const found = properties.find((one) => covers(covered, edge, one));
      if (found === undefined) continue;
      agents.push({
        url: edge.url,
        publisher_domain: publisher.domain,
        property_id: found.property.id ?? "",
        ...(edge.authorized_for !== null && { authorized_for: edge.authorized_for }),
        source: edge.source,
      });
    }
  }
  agents.sort((a, b) => byCodePoint(a.publisher_domain, b.publisher_domain) || byCodePoint(a.url, b.url));
  return { type, value, agents, count: agents.length };
}

const domainOfCursor = (cursor: string): string | undefined => {
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  return /^[a-z0-9.-]+ (adagents_json|aao_hosted|agent_claim)$/.test(text) ? text : undefined;
};

/** An agent's publishers by domain, one row per source; undefined for an agent nobody knows. */
export function* agentPublishers(
  q: Query,
  agentUrl: string,
  { cursor, limit, source, now }: PageRequest & { readonly source?: AuthorizationSource; readonly now: number },
): Coroutine<Page<AgentPublishers> | undefined> {
  const after = cursor === undefined ? " " : domainOfCursor(cursor);
  if (after === undefined) return { ok: false, reason: "cursor_invalid" };
  const [agent] = yield* agentsByUrl(q, [agentUrl]);
  if (agent === undefined) return undefined;
  const [domain, last] = after.split(" ") as [string, string];
  const rows = yield* publishersOfAgent(q, {
    agent: agent.id,
    domain,
    after: last,
    limit: limit + 1,
    source: source ?? null,
  });
  const shown = rows.slice(0, limit);
  const end = shown.at(-1);
  const more = rows.length > limit;
  return {
    ok: true,
    value: {
      agent_url: agentUrl,
      publishers: shown.map((row) => publisherOfAgent(row, now)),
      cursor: more ? Buffer.from(`${end!.domain} ${end!.source}`).toString("base64url") : null,
      has_more: more,
    },
  };
}

function publisherOfAgent(row: AgentEdgeRow, now: number): AgentPublishers["publishers"][number] {
  const covered = coverage(row, now);
  return {
    publisher_domain: row.domain,
    ...(row.authorized_for !== null && { authorized_for: row.authorized_for }),
    source: row.source,
    discovery_method: row.method as DiscoveryMethod | null,
    manager_domain: row.method === "ads_txt_managerdomain" ? row.manager_domain : null,
    properties_authorized: covered === null ? row.property_count : (covered?.size ?? 0),
    properties_total: row.property_count,
    publisher_wide: covered === null,
    last_validated: isoOrNull(row.validated_at),
  };
}
