/** From an identifier or an agent back to publishers. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { agentsByUrl } from "../store/registry-agents.js";
import {
  type AgentEdgeRow,
  type EdgeWithUrl,
  edgesBetween,
  propertiesOfIdentifier,
  publishersById,
  publishersOfAgent,
  slugsOf,
} from "../store/registry-lookups.js";
import { AGENTS_LIMIT, edgesAt } from "./agent-pages.js";
import { activeEntries } from "./feed/changes.js";
import { byCodePoint, identifierValue, isoOrNull } from "./model.js";
import { counting, coverage, covers, effectiveEdges, knownProperty } from "./publisher.js";
import type { AgentPublishers, DiscoveryMethod, Page, PropertyAgents, PublishersPage } from "./types.js";

/**
 * What the agents of one identifier may be read of, in characters of their entries: beyond it no further publisher is looked at.
 * Anybody may name anybody's app, each in a file of ten megabytes.
 */
const ENTRY_CHARACTERS = 4_000_000;

/**
 * Agents that publishers let sell the property of an identifier, by domain and URL; a thousand of them at most.
 * @param asked.agentUrl only this agent, however many others there are
 */
export function* lookupProperty(
  q: Query,
  { type, value, agentUrl }: { type: PropertyAgents["type"]; value: string; agentUrl?: string | undefined },
  now: number,
): Coroutine<PropertyAgents> {
  const [agent] = agentUrl === undefined ? [] : yield* agentsByUrl(q, [agentUrl]);
  if (agentUrl !== undefined && agent === undefined) return { type, value, agents: [], count: 0 };
  const edgesOfOne = function* (publisher: number): Coroutine<EdgeWithUrl[]> {
    if (agent === undefined) return yield* edgesAt(q, publisher);
    return (yield* edgesBetween(q, agent.id, [publisher])).map((edge) => ({ ...edge, url: agent.url }));
  };
  const rows = yield* propertiesOfIdentifier(q, { type, value: identifierValue(value), agent: agent?.id });
  const ids = [...new Set(rows.map(({ publisher }) => publisher))];
  const agents: PropertyAgents["agents"][number][] = [];
  const publishers = yield* publishersById(q, ids);
  let [looked, characters] = [0, 0];
  for (const publisher of publishers) {
    // Whether one agent may sell it is answered for certain.
    if (agent === undefined && (agents.length >= AGENTS_LIMIT || characters >= ENTRY_CHARACTERS)) break;
    looked += 1;
    const named = rows.filter((row) => row.publisher === publisher.id).map(knownProperty);
    const properties = counting(named, publisher.valid === 1);
    const edges = yield* edgesOfOne(publisher.id);
    for (const { entries } of edges) characters += entries.length;
    for (const { edge, covered } of effectiveEdges(edges, publisher.valid === 1, now)) {
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
  const shown = agents.slice(0, AGENTS_LIMIT);
  const truncated = shown.length < agents.length || looked < publishers.length;
  return { type, value, agents: shown, count: shown.length, ...(truncated && { truncated }) };
}

const domainOfCursor = (cursor: string): string | undefined => {
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  return /^[a-z0-9.-]+ (adagents_json|aao_hosted|agent_claim)$/.test(text) ? text : undefined;
};

/** Properties named on one page of an agent's publishers; a first publisher that has more is told whole. */
const PAGE_PROPERTIES = 100_000;

/** As many rows as have room with the names of their properties. */
function fitting(rows: readonly AgentEdgeRow[]): AgentEdgeRow[] {
  let sum = 0;
  const end = rows.findIndex(({ property_count }, at) => {
    sum += property_count;
    return at > 0 && sum > PAGE_PROPERTIES;
  });
  return end < 0 ? [...rows] : rows.slice(0, end);
}

/** An agent's publishers by domain, one row per source; undefined for an agent nobody knows. */
export function* agentPublishers(
  q: Query,
  agentUrl: string,
  { cursor, limit, source, properties = false, now }: PublishersPage & { readonly now: number },
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
  const page = rows.slice(0, limit);
  const shown = properties ? fitting(page) : page;
  const end = shown.at(-1);
  const more = rows.length > shown.length;
  const named = properties ? yield* namesOf(q, shown, now) : undefined;
  return {
    ok: true,
    value: {
      agent_url: agentUrl,
      // What is over is not told, and what has not begun.
      publishers: shown
        .filter((row) => coverage(row, now) !== undefined)
        .map((row) => ({
          ...publisherOfAgent(row, now),
          ...(named !== undefined && { property_ids: named.get(row) ?? [] }),
        })),
      cursor: more ? Buffer.from(`${end!.domain} ${end!.source}`).toString("base64url") : null,
      has_more: more,
    },
  };
}

/** What publishers call the properties that the agent may sell of them. */
function* namesOf(
  q: Query,
  rows: readonly AgentEdgeRow[],
  now: number,
): Coroutine<Map<AgentEdgeRow, readonly string[]>> {
  const covered = new Map(rows.map((row) => [row, confirmedCoverage(row, now)]));
  const wide = rows.filter((row) => covered.get(row) === null);
  const slugs = new Map<AgentEdgeRow, string[]>();
  for (const [source, some] of Map.groupBy(wide, (row) => row.source)) {
    const ids = some.map(({ publisher }) => publisher);
    const found = Map.groupBy(yield* slugsOf(q, ids, source), ({ publisher }) => publisher);
    for (const row of some)
      slugs.set(
        row,
        (found.get(row.publisher) ?? []).map(({ slug }) => slug),
      );
  }
  const keysOf = (keys: ReadonlySet<string> | undefined): string[] =>
    [...(keys ?? [])].filter((key) => key.startsWith("#")).map((key) => key.slice(1));
  return new Map(rows.map((row) => [row, slugs.get(row) ?? keysOf(covered.get(row) ?? undefined)]));
}

/** What the publisher lets the agent sell: a claim is nobody's word but the claimant's. */
const confirmedCoverage = (row: AgentEdgeRow, now: number): ReadonlySet<string> | null | undefined =>
  row.source === "agent_claim" ? undefined : coverage(row, now);

const pinsKeys = (row: AgentEdgeRow, now: number): boolean =>
  row.source !== "agent_claim" &&
  activeEntries(row.entries, now).some(({ signingKeys }) => (signingKeys ?? []).length > 0);

function publisherOfAgent(row: AgentEdgeRow, now: number): AgentPublishers["publishers"][number] {
  const covered = confirmedCoverage(row, now);
  return {
    publisher_domain: row.domain,
    ...(row.authorized_for !== null && { authorized_for: row.authorized_for }),
    source: row.source,
    discovery_method: row.method as DiscoveryMethod | null,
    manager_domain: row.method === "ads_txt_managerdomain" ? row.manager_domain : null,
    properties_authorized: covered === null ? row.property_count : (covered?.size ?? 0),
    properties_total: row.property_count,
    publisher_wide: covered === null,
    signing_keys_pinned: pinsKeys(row, now),
    last_validated: isoOrNull(row.validated_at),
  };
}
