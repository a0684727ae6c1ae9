/** The registry's data for those who go through it: agents, publishers and brands in pages, and many domains at once. */
import type { Coroutine } from "../db/coroutine.js";
import type { Database, Query } from "../db/types.js";
import { agentsByUrl } from "../store/registry-agents.js";
import {
  domainsOfAgents,
  foundAgentsAfter,
  hostedPublishersAfter,
  type ListedAgentRow,
  type ListedPublisherRow,
  listedAgentAt,
  memberAgentsAfter,
  validAfter,
} from "../store/registry-lists.js";
import { counts } from "../store/registry-profiles.js";
import { brandData, brandsLike } from "./brands.js";
import { lookupProperty } from "./inverse.js";
import type { AgentList, FoundAll, ListedAgent, ListedData, PublisherList } from "./listed-types.js";
import { byCodePoint, isoOrNull } from "./model.js";
import { saidOf } from "./probed.js";
import type { AgentType } from "./types.js";

/** Domains in one list of agents, and of one agent. */
const LIST_DOMAINS = 100_000;
const AGENT_DOMAINS = 10_000;
/** Of each kind in one search. */
const FOUND = 5;

/** Position in a list that is ordered by a text. */
const cursorOf = (text: string | undefined): string | null =>
  text === undefined ? null : Buffer.from(text).toString("base64url");
/** Any text is a place in the order; PostgreSQL takes none with the character that is left out. */
const afterOf = (cursor = ""): string => Buffer.from(cursor, "base64url").toString("utf8").replaceAll("\0", "");

function listedAgent({
  row,
  domains,
  truncated,
}: Partial<ListedRow> & Pick<ListedRow, "row">): AgentList["agents"][number] {
  const lists = JSON.parse(row.lists ?? "[]") as string[][];
  return {
    url: row.url,
    name: row.name ?? row.display_name ?? new URL(row.url).hostname,
    type: row.type as AgentType,
    ...(row.slug !== null && { member: { slug: row.slug, display_name: row.display_name ?? row.slug } }),
    ...(domains !== undefined && {
      publisher_domains: domains,
      ...(truncated && { domains_truncated: true }),
      property_summary: {
        total_count: row.property_count ?? 0,
        count_by_type: JSON.parse(row.type_counts ?? "{}") as Record<string, number>,
        tags: lists[4] ?? [],
        publisher_count: row.publisher_count ?? 0,
      },
    }),
  };
}

const listedPublisher = (row: ListedPublisherRow): PublisherList["publishers"][number] => {
  const validated = isoOrNull(row.validated_at);
  return {
    domain: row.domain,
    agent_count: row.agents,
    property_count: row.property_count,
    has_valid_adagents: row.valid === 1,
    ...(validated !== null && { last_validated: validated }),
  };
};

type AgentsWanted = Parameters<ListedData["listAgents"]>[0];

/** The first of two lists that are in order. */
const firstOf = <T>(lists: readonly (readonly T[])[], keyOf: (one: T) => string, limit: number): T[] =>
  lists
    .flat()
    .sort((a, b) => byCodePoint(keyOf(a), keyOf(b)))
    .slice(0, limit);

interface ListedRow {
  readonly row: ListedAgentRow;
  readonly domains: readonly string[];
  readonly truncated?: true;
}

/** Agents whose domains are read at once. */
const SLICE_AGENTS = 200;

/** As many of the agents, from the first on, as have room with all their domains; the first has it in any case. */
function* withDomains(q: Query, rows: readonly ListedAgentRow[], room: number): Coroutine<ListedRow[]> {
  const listed: ListedRow[] = [];
  let left = room;
  const domainsOf = function* (some: readonly ListedAgentRow[]): Coroutine<Map<number, string[]> | undefined> {
    const ids = some.map(({ id }) => id);
    const found = yield* domainsOfAgents(q, ids, left + 1);
    if (found.length > left && (listed.length > 0 || some.length > 1)) return undefined;
    const kept = found.slice(0, left);
    left -= found.length;
    const byAgent = Map.groupBy(kept, ({ agent }) => agent);
    return new Map(ids.map((id) => [id, (byAgent.get(id) ?? []).map(({ domain }) => domain)]));
  };
  const take = (some: readonly ListedAgentRow[], domains: ReadonlyMap<number, string[]>): void => {
    for (const row of some)
      listed.push({ row, domains: domains.get(row.id)!, ...(left < 0 && { truncated: true as const }) });
  };
  for (let at = 0; at < rows.length; at += SLICE_AGENTS) {
    const slice = rows.slice(at, at + SLICE_AGENTS);
    const all = yield* domainsOf(slice);
    if (all !== undefined) {
      take(slice, all);
      continue;
    }
    // The first that has no room begins the next page.
    for (const row of slice) {
      const domains = yield* domainsOf([row]);
      if (domains === undefined) return listed;
      take([row], domains);
    }
  }
  return listed;
}

function* agentList(
  q: Query,
  { cursor, limit, type, properties, ...asked }: AgentsWanted,
  room: number,
): Coroutine<AgentList> {
  const page = { after: afterOf(cursor), limit: limit + 1 };
  const registered = yield* memberAgentsAfter(q, { ...page, type });
  const found = type === undefined || type === "unknown" ? yield* foundAgentsAfter(q, page) : [];
  const rows = firstOf([registered, found], ({ url }) => url, limit + 1);
  const shown = rows.slice(0, limit);
  const listed = properties
    ? yield* withDomains(q, shown, room)
    : shown.map((row): Partial<ListedRow> & Pick<ListedRow, "row"> => ({ row }));
  const more = rows.length > listed.length;
  const ids = listed.map(({ row }) => row.id);
  const said = yield* saidOf(q, ids, asked);
  return {
    agents: listed.map((one) => ({ ...listedAgent(one), ...said.get(one.row.id) })),
    count: listed.length,
    cursor: more ? cursorOf(listed.at(-1)?.row.url) : null,
    has_more: more,
  };
}

const allSaid = { health: true, capabilities: true } as const;

function* agentNamed(
  q: Query,
  url: string,
): Coroutine<(ListedAgent & { readonly publisherCount: number }) | undefined> {
  const row = yield* listedAgentAt(q, url);
  if (row === undefined) return undefined;
  const said = yield* saidOf(q, [row.id], allSaid);
  return { ...listedAgent({ row }), ...said.get(row.id), publisherCount: row.publisher_count ?? 0 };
}

type PublishersWanted = Parameters<ListedData["listPublishers"]>[0];

function* publisherList(
  q: Query,
  { cursor, limit, offset = 0, search = "" }: PublishersWanted,
): Coroutine<PublisherList> {
  const wanted = offset + limit + 1;
  const page = { after: afterOf(cursor), prefix: search.trim().toLowerCase(), limit: wanted };
  const both = [yield* validAfter(q, page), yield* hostedPublishersAfter(q, page)];
  const rows = firstOf(both, ({ domain }) => domain, wanted).slice(offset);
  const shown = rows.slice(0, limit);
  const more = rows.length > limit;
  return {
    publishers: shown.map(listedPublisher),
    count: shown.length,
    cursor: more ? cursorOf(shown.at(-1)?.domain) : null,
    has_more: more,
  };
}

function* searchEverything(q: Query, text: string, now: number): Coroutine<FoundAll> {
  const prefix = text.trim().toLowerCase();
  const { publishers } = yield* publisherList(q, { search: prefix, limit: FOUND });
  const property = yield* lookupProperty(q, { type: "domain", value: prefix }, now);
  const domains = [...new Set(property.agents.map(({ publisher_domain }) => publisher_domain))].sort(byCodePoint);
  return {
    brands: yield* brandsLike(q, text, FOUND),
    publishers,
    properties: domains.slice(0, FOUND).map((domain) => ({ publisher_domain: domain, name: prefix, type: "domain" })),
  };
}

interface ListedDependencies {
  readonly db: Database;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Throws on what cannot be used. */
  readonly urlOf: (text: string) => string;
  /** Domains in one list of agents; default 100,000. */
  readonly listDomains?: number | undefined;
}

export const listedData = ({ db, now, urlOf, listDomains = LIST_DOMAINS }: ListedDependencies): ListedData => ({
  listAgents: (wanted) => db.read((q) => agentList(q, wanted, listDomains)),
  listedAgent: async (agent) => {
    const url = urlOf(agent);
    return db.read((q) => agentNamed(q, url));
  },
  listPublishers: (wanted) => db.read((q) => publisherList(q, wanted)),
  agentDomains: async (agent) => {
    const url = urlOf(agent);
    return db.read(function* (q): Coroutine<string[]> {
      const [row] = yield* agentsByUrl(q, [url]);
      if (row === undefined) return [];
      return (yield* domainsOfAgents(q, [row.id], AGENT_DOMAINS + 1)).map(({ domain }) => domain);
    });
  },
  ...brandData(db),
  searchAll: (text) => db.read((q) => searchEverything(q, text, now())),
  publisherCount: () =>
    db.read(function* (q): Coroutine<number> {
      const rows = yield* counts(q);
      return rows.find(({ kind, name }) => kind === "publishers" && name === "discovered")?.count ?? 0;
    }),
});
