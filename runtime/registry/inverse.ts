/** From an identifier or an agent back to publishers. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { type AgentEdgeRow, publishersOfAgent, type ReadEdgeRow } from "../store/registry-agent-publishers.js";
import { agentsByUrl } from "../store/registry-agents.js";
import {
  type NamingRow,
  propertiesWith,
  publishersNaming,
  publishersNamingWith,
} from "../store/registry-identifiers.js";
import { type EdgeWithUrl, edgesBetween, publishersById, slugsOf } from "../store/registry-lookups.js";
import type { PropertyRow, PublisherRow } from "../store/registry-publishers.js";
import { AGENTS_LIMIT, edgesAt } from "./agent-pages.js";
import { coverage } from "./coverage.js";
import { activeEntries } from "./feed/changes.js";
import { counting, type KnownProperty, knownProperty } from "./known-properties.js";
import { byCodePoint, identifierValue, isoOrNull } from "./model.js";
import { activeAt, type StoredEntry } from "./project.js";
import type { AgentPublishers, DiscoveryMethod, Page, PropertyAgents, PublishersPage } from "./types.js";

/**
 * What the agents of one identifier may be read of, in characters of their entries: beyond it no further publisher is looked at.
 * Anybody may name anybody's app, each in a file of ten megabytes.
 */
const ENTRY_CHARACTERS = 4_000_000;
/** Publishers of one identifier whose agents are listed. */
const PUBLISHERS_LIMIT = 100;
/** Publishers of one identifier asked at once whether they name an agent. */
const NAMING_SLICE = 1_000;
/** What may be read of those that name one agent, in bytes, the shortest first; and what each of them counts for at least. */
const [AGENT_BYTES, LEAST_BYTES] = [16_000_000, 4_000];

type Identified = Pick<PropertyAgents, "type" | "value">;

/** An entry of all the publisher has, as it is stored. */
const WHOLE = '"covers":null';

/**
 * The first of some properties that an edge covers. Its entries are read as far as that takes: the lists of a hostile file have
 * millions of keys.
 */
function coveredOf(edge: EdgeWithUrl, properties: readonly KnownProperty[], now: number): KnownProperty | undefined {
  // As they stand in the text: most entries name none of them.
  const named = ({ key }: KnownProperty): boolean => edge.entries.includes(JSON.stringify(key));
  const own = properties.filter((one) => one.source === edge.source && named(one));
  if (own.length === 0 && !edge.entries.includes(WHOLE)) return undefined;
  const active = (JSON.parse(edge.entries) as StoredEntry[]).filter((entry) => activeAt(entry, now));
  if (active.some(({ covers }) => covers === null)) return properties[0];
  return own.find(({ key }) => active.some(({ covers }) => covers!.includes(key)));
}

/** What lets agents sell the property of an identifier at one publisher. */
function agentsAt(
  edges: readonly EdgeWithUrl[],
  { publisher, named, now }: { publisher: PublisherRow; named: readonly PropertyRow[]; now: number },
): PropertyAgents["agents"][number][] {
  const valid = publisher.valid === 1;
  const properties = counting(named.map(knownProperty), valid);
  return edges.flatMap((edge) => {
    // A hosted file gives way to the publisher's own.
    const found = edge.source === "aao_hosted" && valid ? undefined : coveredOf(edge, properties, now);
    if (found === undefined) return [];
    const property_id = found.property.id ?? "";
    const said = edge.authorized_for === null ? {} : { authorized_for: edge.authorized_for };
    return [{ url: edge.url, publisher_domain: publisher.domain, property_id, ...said, source: edge.source }];
  });
}

const sorted = (agents: readonly PropertyAgents["agents"][number][]) =>
  [...agents].sort((a, b) => byCodePoint(a.publisher_domain, b.publisher_domain) || byCodePoint(a.url, b.url));

/**
 * Agents that publishers let sell the property of an identifier, by domain and URL; a thousand of them at most.
 * @param asked.agentUrl only this agent, however many others there are
 */
export const lookupProperty = (
  q: Query,
  { type, value, agentUrl }: Identified & { readonly agentUrl?: string | undefined },
  now: number,
): Coroutine<PropertyAgents> =>
  agentUrl === undefined
    ? agentsOfProperty(q, { type, value }, now)
    : agentOfProperty(q, { type, value, agentUrl }, now);

function* agentsOfProperty(q: Query, { type, value }: Identified, now: number): Coroutine<PropertyAgents> {
  const identifier = { type, value: identifierValue(value) };
  const ids = yield* publishersNaming(q, identifier, PUBLISHERS_LIMIT + 1);
  const agents: PropertyAgents["agents"][number][] = [];
  let [looked, characters] = [0, 0];
  const publishers = yield* publishersById(q, ids.slice(0, PUBLISHERS_LIMIT));
  for (const publisher of publishers.sort((a, b) => a.id - b.id)) {
    if (agents.length >= AGENTS_LIMIT || characters >= ENTRY_CHARACTERS) break;
    looked += 1;
    const edges = yield* edgesAt(q, publisher.id);
    for (const { entries } of edges) characters += entries.length;
    agents.push(...agentsAt(edges, { publisher, named: yield* propertiesWith(q, publisher.id, identifier), now }));
  }
  const shown = sorted(agents).slice(0, AGENTS_LIMIT);
  const truncated = shown.length < agents.length || looked < ids.length;
  return { type, value, agents: shown, count: shown.length, ...(truncated && { truncated }) };
}

/** Publishers that name an identifier, and an agent too, those that say least of it first. */
function* publishersBetween(
  q: Query,
  identifier: Identified,
  agent: number,
): Coroutine<(NamingRow & { bytes: number })[]> {
  const found: (NamingRow & { bytes: number })[] = [];
  for (let [after, more] = [0, true]; more; ) {
    const rows = yield* publishersNamingWith(q, identifier, { agent, after, limit: NAMING_SLICE });
    more = rows.length === NAMING_SLICE;
    after = rows.at(-1)?.publisher ?? after;
    for (const { publisher, bytes } of rows) if (bytes !== null) found.push({ publisher, bytes });
  }
  return found.sort((a, b) => a.bytes - b.bytes);
}

/**
 * Where an agent may sell the property of an identifier. It is looked for at every publisher that names both: whoever names them as
 * well, and earlier, hides nothing.
 */
function* agentOfProperty(
  q: Query,
  { type, value, agentUrl }: Identified & { readonly agentUrl: string },
  now: number,
): Coroutine<PropertyAgents> {
  const identifier = { type, value: identifierValue(value) };
  const [agent] = yield* agentsByUrl(q, [agentUrl]);
  const between = agent === undefined ? [] : yield* publishersBetween(q, identifier, agent.id);
  const agents: PropertyAgents["agents"][number][] = [];
  let [looked, room] = [0, AGENT_BYTES];
  for (const { publisher: id, bytes } of between) {
    if (agents.length === AGENTS_LIMIT || (room <= bytes && looked > 0)) break;
    looked += 1;
    room -= Math.max(bytes, LEAST_BYTES);
    const edges = (yield* edgesBetween(q, agent!.id, [id])).map((edge) => ({ ...edge, url: agent!.url }));
    const [publisher] = yield* publishersById(q, [id]);
    if (publisher === undefined) continue;
    agents.push(...agentsAt(edges, { publisher, named: yield* propertiesWith(q, id, identifier), now }));
  }
  const truncated = looked < between.length;
  return { type, value, agents: sorted(agents), count: agents.length, ...(truncated && { truncated }) };
}

const domainOfCursor = (cursor: string): string | undefined => {
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  return /^[a-z0-9.-]+ (adagents_json|aao_hosted|agent_claim)$/.test(text) ? text : undefined;
};

/** Properties named on one page of an agent's publishers; a first publisher that has more is told whole. */
const PAGE_PROPERTIES = 100_000;

/** Up to the first whose entries had no room. */
function read(rows: readonly AgentEdgeRow[]): ReadEdgeRow[] {
  const end = rows.findIndex(({ entries }) => entries === null);
  return (end < 0 ? rows : rows.slice(0, end)) as ReadEdgeRow[];
}

/** As many rows as have room with the names of their properties. */
function fitting(rows: readonly ReadEdgeRow[]): readonly ReadEdgeRow[] {
  let sum = 0;
  const end = rows.findIndex(({ property_count }, at) => {
    sum += property_count;
    return at > 0 && sum > PAGE_PROPERTIES;
  });
  return end < 0 ? rows : rows.slice(0, end);
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
  const page = read(rows.slice(0, limit));
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
function* namesOf(q: Query, rows: readonly ReadEdgeRow[], now: number): Coroutine<Map<ReadEdgeRow, readonly string[]>> {
  const covered = new Map(rows.map((row) => [row, confirmedCoverage(row, now)]));
  const wide = rows.filter((row) => covered.get(row) === null);
  const slugs = new Map<ReadEdgeRow, string[]>();
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
const confirmedCoverage = (row: ReadEdgeRow, now: number): ReadonlySet<string> | null | undefined =>
  row.source === "agent_claim" ? undefined : coverage(row, now);

const pinsKeys = (row: ReadEdgeRow, now: number): boolean =>
  row.source !== "agent_claim" &&
  activeEntries(row.entries, now).some(({ signingKeys }) => (signingKeys ?? []).length > 0);

function publisherOfAgent(row: ReadEdgeRow, now: number): AgentPublishers["publishers"][number] {
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
