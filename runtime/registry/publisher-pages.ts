/** A publisher's properties in filtered pages, and what changed of what it says. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import { newestPairs } from "../store/registry-feed.js";
import {
  type EdgeFacts,
  matchingProperties,
  propertiesMatching,
  propertySources,
  publishersByDomain,
} from "../store/registry-lookups.js";
import type { PropertyRow, PublisherRow } from "../store/registry-publishers.js";
import { factsAt, pagedAgents, readAgentsCursor } from "./agent-pages.js";
import { toldProperty } from "./explain.js";
import { knownProperty } from "./known-properties.js";
import { iso, isoOrNull } from "./model.js";
import type { OverviewRequest, PropertiesPage, PropertiesRequest, PublisherChanges } from "./page-types.js";
import { aboutPublisher } from "./publisher.js";
import type { PublisherLookup } from "./types.js";

/** Matches counted; a page says no more than that there are more. */
const COUNTED = 10_000;

/** The sources whose properties count, as `effective` has it; the brand file's are shown where there are no others. */
function sourcesOf(row: PublisherRow, there: readonly string[]): PropertyRow["source"][] {
  const own = row.valid === 1 || there.includes("adagents_json") ? "adagents_json" : "aao_hosted";
  const counted = [own, "discovered"].filter((source) => there.includes(source));
  return (counted.length > 0 ? counted : ["brand_json"]) as PropertyRow["source"][];
}

/** @returns undefined for a text that is no cursor of ours: the list then begins at its beginning */
function placeIn(cursor: string | undefined): { source: string; key: string } | undefined {
  const text = Buffer.from(cursor ?? "", "base64url").toString("utf8");
  const found = /^(\w+) (.+)$/s.exec(text);
  return found === null || text.includes("\0") ? undefined : { source: found[1]!, key: found[2]! };
}

/** @see PagedData.propertiesPage */
export function* propertiesPage(
  q: Query,
  domain: string,
  { text, type, cursor, limit }: PropertiesRequest,
): Coroutine<PropertiesPage> {
  const [row] = yield* publishersByDomain(q, [domain]);
  if (row === undefined) return { total: 0, matching: 0, properties: [], cursor: null };
  const there = (yield* propertySources(q, row.id)).map(({ source }) => source);
  const wanted = { publisher: row.id, sources: sourcesOf(row, there), text: text?.trim() ?? "", type: type ?? "" };
  const after = placeIn(cursor) ?? { source: "", key: "" };
  const rows = yield* propertiesMatching(q, { ...wanted, after, limit: limit + 1 });
  const counted = (given: typeof wanted) => matchingProperties(q, given, COUNTED + 1);
  const total = wanted.sources.includes("brand_json")
    ? yield* counted({ ...wanted, text: "", type: "" })
    : row.property_count;
  const matching = wanted.text === "" && wanted.type === "" ? total : yield* counted(wanted);
  const last = rows.length > limit ? rows[limit - 1]! : undefined;
  return {
    total,
    matching: matching < total && matching > COUNTED ? null : matching,
    properties: rows.slice(0, limit).map(knownProperty).map(toldProperty),
    cursor: last === undefined ? null : Buffer.from(`${last.source} ${last.key}`).toString("base64url"),
  };
}

/** A claim counts for nothing, and hosted files give way to the publisher's own. */
const shareOf = ({ source, wide, covered }: EdgeFacts, total: number) => ({
  properties_authorized: source === "agent_claim" ? 0 : wide === 1 ? total : covered,
  properties_total: total,
  publisher_wide: source !== "agent_claim" && wide === 1,
});

/** @see PagedData.overview */
export function* overview(
  q: Query,
  domain: string,
  { text = "", cursor, limit, publicUrl, now }: OverviewRequest & { readonly publicUrl: string; readonly now: number },
): Coroutine<PublisherLookup> {
  const [row] = yield* publishersByDomain(q, [domain]);
  const wanted = text.toLowerCase();
  const stand = row === undefined ? [] : yield* factsAt(q, row, now);
  const agents = stand.filter(({ url }) => url.toLowerCase().includes(wanted));
  const after = cursor === undefined ? undefined : readAgentsCursor(cursor);
  const page = pagedAgents(
    agents.map((edge) => ({ edge })),
    after,
    limit,
  );
  return {
    ...(yield* aboutPublisher(q, domain, row, publicUrl)),
    properties: [],
    ...(row?.properties_declared != null && {
      truncated: { declared: row.properties_declared, kept: row.property_count },
    }),
    authorized_agents: page.shown.map(({ edge }) => ({
      url: edge.url,
      ...(edge.authorized_for !== null && { authorized_for: edge.authorized_for }),
      source: edge.source,
      ...shareOf(edge, row?.property_count ?? 0),
    })),
    ...page.about,
  };
}

/** @see PagedData.changesOf */
export function* changesOf(q: Query, domain: string, limit: number): Coroutine<PublisherChanges> {
  const [row] = yield* publishersByDomain(q, [domain]);
  if (row === undefined) return { crawled_at: null, properties: null, agents: [] };
  const pairs = yield* newestPairs(q, row.id, limit);
  const change = row.last_change === null ? null : (JSON.parse(row.last_change) as PropertyChange);
  return {
    crawled_at: isoOrNull(row.crawled_at),
    properties: change === null ? null : { ...change, at: iso(change.at) },
    agents: pairs.map(({ url, gone, first, seq, at }) => ({
      agent_url: url,
      change: gone === 1 ? "revoked" : first === seq ? "granted" : "changed",
      at: iso(at),
    })),
  };
}

/** What a publisher's row keeps of the last change of its own properties. */
export interface PropertyChange {
  /** Unix milliseconds. */
  readonly at: number;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** Those that came, then those that went, then those that are otherwise; the first of each. */
  readonly names: readonly string[];
}

/** Names kept of each kind. */
const NAMES = 10;

type Compared = Pick<PropertyRow, "key" | "type" | "identifiers">;
const nameOf = (key: string): string => (key.startsWith("#") ? key.slice(1) : key).slice(0, 100);

/** @returns undefined where nothing is otherwise */
export function propertyChange(
  before: readonly Compared[],
  next: readonly Compared[],
  at: number,
): PropertyChange | undefined {
  const old = new Map(before.map((one) => [one.key, one]));
  const fresh = new Set(next.map(({ key }) => key));
  const added = next.filter(({ key }) => !old.has(key));
  const removed = before.filter(({ key }) => !fresh.has(key));
  const changed = next.filter(({ key, type, identifiers }) => {
    const known = old.get(key);
    return known !== undefined && (known.type !== type || known.identifiers !== identifiers);
  });
  if (added.length + removed.length + changed.length === 0) return undefined;
  const names = [added, removed, changed].flatMap((list) => list.slice(0, NAMES).map(({ key }) => nameOf(key)));
  return { at, added: added.length, removed: removed.length, changed: changed.length, names };
}
