/**
 * What publishers offer and what an agent may sell of it, asked for in one statement and packed into one row for each
 * publisher: a thousand properties as rows cost the reader more than the database.
 */
import type { Coroutine } from "../db/coroutine.js";
import type { Query, Statements } from "../db/types.js";
import { ENTRIES_IN_SHORT } from "./registry-claims.js";
import type { EdgeRow, EdgeSource, PropertyRow, PropertySource, PublisherRow } from "./registry-publishers.js";

/** Between the parts of an item, and between items. What is crawled has no control characters; what is written by others may. */
const [PART, ITEM] = ["\u001f", "\u001e"];

export interface OfferingsQuery {
  readonly agentUrl: string;
  /** Domain -> state of the publisher where its properties need not be read again, else an empty text. */
  readonly known: ReadonlyMap<string, string>;
  /** After so many properties no more are read. */
  readonly limit: number;
  /** Of a publisher with more properties than this none are. */
  readonly largest: number;
}

/** A publisher, its properties and the edges of one agent there. */
export interface OfferingRow extends Pick<PublisherRow, "id" | "domain" | "valid" | "property_count"> {
  /** Properties of the publishers up to this one. */
  readonly read: number;
  /** All that the properties follow from; the same for the same properties. */
  readonly state: string;
  /** For `unpackedEdges`; null where there is none. */
  readonly edges: string | null;
  /** For `unpackedProperties`; null where there is none, or none was to be read. */
  readonly properties: string | null;
}

/** What of a property an agent may sell it by. */
export type OfferedRow = Pick<PropertyRow, "source" | "key" | "slug" | "type" | "name" | "identifiers" | "tags">;

const OFFERED_PARTS = 7;

/** All that a publisher's properties follow from. */
const STATE = "p.id || ' ' || coalesce(p.valid, 0) || ' ' || coalesce(p.digests, '')";

/** Publishers of domains, in no order, as they are at one time. */
export function offerings(
  q: Statements,
  { agentUrl, known, limit, largest }: OfferingsQuery,
  take: (row: OfferingRow) => void,
): Coroutine<void> {
  const packed = (parts: readonly string[]): string => `string_agg(${parts.join(` || '${PART}' || `)}, '${ITEM}')`;
  // Claims are anybody's, of any length, and are asked only whether they are there.
  const said = `case when a.source = 'agent_claim' then ${ENTRIES_IN_SHORT} else a.entries end`;
  const edges =
    `(select ${packed(["a.source", said])} from adbind_registry_authorizations a ` +
    "where a.publisher = f.id and a.agent = (select id from adbind_registry_agents where url = ?))";
  const slug = "coalesce('=' || o.slug, '')";
  const properties =
    `(select count(*) || '${ITEM}' || ${packed(["o.source", "o.key", slug, "o.type", "o.name", "o.identifiers", "o.tags"])} ` +
    "from adbind_registry_properties o where o.publisher = f.id and o.source <> 'brand_json')";
  const found =
    `(select p.id, p.domain, p.valid, p.property_count, ${STATE} as state, asked.value as known, ` +
    `cast(sum(p.property_count) over (rows unbounded preceding) as bigint) as read from ${q.dialect.members} asked ` +
    "join adbind_registry_publishers p on p.domain = asked.key)";
  const text =
    `select f.id, f.domain, f.valid, f.property_count, f.read, f.state, ${edges} as edges, ` +
    `case when f.read <= ? and f.property_count <= ? and f.state <> f.known then ${properties} end as properties from ${found} f`;
  return q.each(text, [agentUrl, limit, largest, JSON.stringify(Object.fromEntries(known))], take);
}

const unpacked = (packed: string | null): string[][] =>
  packed === null ? [] : packed.split(ITEM).map((item) => item.split(PART));

export const unpackedEdges = ({ edges }: Pick<OfferingRow, "edges">): Pick<EdgeRow, "source" | "entries">[] =>
  unpacked(edges)
    .map(([source, entries]) => ({ source: source as EdgeSource, entries: entries! }))
    .sort((a, b) => (a.source < b.source ? -1 : a.source > b.source ? 1 : 0));

/**
 * Their number comes first: with it no text can pass for what stands between texts.
 * @returns undefined where a text has what was put between texts
 */
export function unpackedProperties({ properties }: Pick<OfferingRow, "properties">): OfferedRow[] | undefined {
  const [count, ...items] = unpacked(properties);
  if (count !== undefined && items.length !== Number(count[0])) return undefined;
  if (items.some(({ length }) => length !== OFFERED_PARTS)) return undefined;
  return items.map(([source, key, slug, type, name, identifiers, tags]) => ({
    source: source as PropertySource,
    key: key!,
    slug: slug === "" ? null : slug!.slice(1),
    type: type!,
    name: name!,
    identifiers: identifiers!,
    tags: tags!,
  }));
}

/** Some of a publisher's properties as rows: those after one of them. */
export const offeredAfter = (
  q: Query,
  publisher: number,
  { source, key }: Pick<OfferedRow, "source" | "key"> | { readonly source: ""; readonly key: "" },
  limit: number,
): Coroutine<OfferedRow[]> =>
  q.rows(
    "select source, key, slug, type, name, identifiers, tags from adbind_registry_properties " +
      "where publisher = ? and source <> 'brand_json' and (source, key) > (?, ?) order by source, key limit ?",
    [publisher, source, key, limit],
  );

/** What a publisher's properties follow from now. @see OfferingRow.state */
export function* offeringState(q: Query, publisher: number): Coroutine<string | undefined> {
  const text = `select ${STATE} as state from adbind_registry_publishers p where p.id = ?`;
  return (yield* q.rows<{ state: string }>(text, [publisher]))[0]?.state;
}
