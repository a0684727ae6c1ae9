/** Products in terms of properties: what selectors stand for, and how far an agent may sell it. */
import { AdbindError } from "../errors.js";
import type { Flow } from "../signing/flow.js";
import { type OfferingRow, offerings } from "../store/registry-lookups.js";
import type { EdgeSource } from "../store/registry-publishers.js";
import type { Query } from "../store/registry-query.js";
import { type JsonBytes, jsonBytes } from "./json-bytes.js";
import { agentUrlOf, iso, publisherDomain } from "./model.js";
import type { Offer, Offered, Offers } from "./offers.js";
import { covers, standing } from "./publisher.js";
import type { AuthorizationSource, ExpandRequest, ExpandResult, ProductAuthorization, Selector } from "./types.js";

type SelectionType = "all" | "by_id" | "by_tag";

/** What a selector asks of a property; an absent filter asks nothing. */
interface Filters {
  readonly selection: SelectionType;
  readonly ids: ReadonlySet<string> | undefined;
  readonly types: ReadonlySet<string> | undefined;
  readonly tags: ReadonlySet<string> | undefined;
}

/**
 * Most comparisons of selectors with properties for one request: some tenths of a second. A thousand selectors of a
 * publisher with a thousand properties stay below.
 */
const MATCHING_LIMIT = 4_000_000;

/** Most properties read for one request; an answer with them all has some 60 MB. */
const READING_LIMIT = 200_000;

const present = (list: readonly string[] | undefined): ReadonlySet<string> | undefined =>
  list === undefined || list.length === 0 ? undefined : new Set(list);

/**
 * The protocol's own selector says how it picks, and an empty pick is nothing; without `selection_type` the filters say
 * it all, and an empty one is absent (decisions.md, "Registry").
 */
function filtersOf(selector: Selector): Filters {
  const types = present(selector.property_types);
  const tags = present([...(selector.tags ?? []), ...(selector.property_tags ?? [])]);
  const ids = present(selector.property_ids);
  switch (selector.selection_type) {
    case "all":
      return { selection: "all", ids: undefined, types, tags: present(selector.tags) };
    case "by_id":
      return { selection: "by_id", ids: new Set(selector.property_ids), types, tags: present(selector.tags) };
    case "by_tag":
      return { selection: "by_tag", ids: undefined, types, tags: tags ?? new Set() };
  }
  return { selection: ids !== undefined ? "by_id" : tags !== undefined ? "by_tag" : "all", ids, types, tags };
}

const passes = ({ ids, types, tags }: Filters, property: Offer): boolean =>
  (ids === undefined || (property.id !== null && ids.has(property.id))) &&
  (types === undefined || types.has(property.type)) &&
  (tags === undefined || property.tags.some((tag) => tags.has(tag)));

/** Each domain of a selector once. */
const domainsOf = (selector: Selector): string[] => {
  const one = selector.publisher_domain === undefined ? [] : [selector.publisher_domain];
  const domains = [...(selector.publisher_domains ?? []), ...one].map((text) => publisherDomain(text));
  return [...new Set(domains.filter((domain) => domain !== undefined))];
};

/** A selector as it looks at one publisher. */
interface Look {
  readonly filters: Filters;
  readonly domain: string;
}

/** Every selector at every publisher it names. */
const looksOf = (request: ExpandRequest): Look[] =>
  request.publisher_properties.flatMap((selector) => {
    const filters = filtersOf(selector);
    return domainsOf(selector).map((domain) => ({ filters, domain }));
  });

/** One publisher as one agent sees it. */
interface Reach {
  readonly offered: Offered;
  readonly sells: (one: Offer) => boolean;
  /** All the publisher has may be sold, now and later. */
  readonly wide: boolean;
  readonly source: AuthorizationSource | "none";
}

/** What a verdict needs of it. */
type Seen = Omit<Reach, "offered"> & { readonly offered: Pick<Offered, "offers"> };

const nothing: Seen = { offered: { offers: [] }, sells: () => false, wide: false, source: "none" };

interface Given {
  readonly offers: Offers;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * What an agent may sell of these publishers, by domain in their order. Only a publisher's own word lets it sell; a claim
 * is told, and no more.
 */
function* reachOf(q: Query, agentUrl: string, looks: readonly Look[], given: Given): Flow<Map<string, Reach>> {
  // What is no URL is nobody's.
  const url = agentUrlOf(agentUrl) ?? "";
  const rows = yield* offerings(q, url, [...new Set(looks.map(({ domain }) => domain))]);
  const publishers = Map.groupBy(rows, ({ domain }) => domain);
  const each = [...publishers.values()].map((edges) => edges[0]!);
  refuseTooMuch(each, looks);
  const offers = yield* given.offers.of(q, each);
  return new Map(
    each.map(({ id, domain, valid }) => [
      domain,
      reachAt(offers.get(id)!, standing(publishers.get(domain)!.filter(isEdge), valid === 1, given.now)),
    ]),
  );
}

const isEdge = (row: OfferingRow): row is OfferingRow & { source: EdgeSource; entries: string } => row.source !== null;

function reachAt(offered: Offered, edges: ReturnType<typeof standing>): Reach {
  const own = edges.filter(({ edge }) => edge.source !== "agent_claim");
  return {
    offered,
    sells: (one) => own.some(({ edge, covered }) => covers(covered, edge, one)),
    wide: own.some(({ covered }) => covered === null),
    source: (own[0] ?? edges[0])?.edge.source ?? "none",
  };
}

/** @throws AdbindError `registry_data_invalid` when a request would keep the registry from answering others */
function refuseTooMuch(rows: readonly OfferingRow[], looks: readonly Look[]): void {
  const counts = new Map(rows.map((row) => [row.domain, row.property_count]));
  const read = rows.reduce((sum, row) => sum + row.property_count, 0);
  const compared = looks.reduce((sum, { domain }) => sum + (counts.get(domain) ?? 0), 0);
  if (read > READING_LIMIT || compared > MATCHING_LIMIT)
    throw new AdbindError("registry_data_invalid", "the selectors ask for too much at once", {
      remedy: "ask for fewer of them at a time",
    });
}

/**
 * An expansion, already as JSON: it may have thousands of properties, whose texts are kept.
 * @throws AdbindError `registry_data_invalid` when the selectors ask for too much at once
 */
export function* expand(q: Query, request: ExpandRequest, given: Given): Flow<JsonBytes<ExpandResult>> {
  const looks = looksOf(request);
  const reach = yield* reachOf(q, request.agent_url, looks, given);
  const byDomain = Map.groupBy(looks, ({ domain }) => domain);
  const properties: string[] = [];
  const identifiers: string[] = [];
  let [property_count, identifier_count] = [0, 0];
  for (const [domain, { offered, sells }] of reach) {
    const asked = byDomain.get(domain)!;
    const picks = offered.offers.map((one) => sells(one) && asked.some(({ filters }) => passes(filters, one)));
    const found = pickedIdentifiers(offered, picks);
    for (const text of offered.properties.picked(picks)) properties.push(text);
    for (const text of found.texts) identifiers.push(text);
    property_count += picks.filter((pick) => pick).length;
    identifier_count += found.count;
  }
  const { agent_url } = request;
  const counts = { property_count, identifier_count, generated_at: iso(given.now) };
  return jsonBytes([
    `${JSON.stringify({ agent_url }).slice(0, -1)},"properties":[`,
    properties,
    '],"identifiers":[',
    identifiers,
    `],${JSON.stringify(counts).slice(1)}`,
  ]);
}

/** Each once: properties without a name of their own share theirs. */
function pickedIdentifiers({ identifiers, counts, shared }: Offered, picks: readonly boolean[]) {
  if (shared === undefined)
    return {
      texts: identifiers.picked(picks),
      count: counts.reduce((sum, count, at) => sum + (picks[at] ? count : 0), 0),
    };
  const texts = [...new Set(shared.filter((_, at) => picks[at]).flat())];
  return { texts, count: texts.length };
}

type Verdict = ProductAuthorization["selectors"][number];

export function* validateProduct(q: Query, request: ExpandRequest, given: Given): Flow<ProductAuthorization> {
  const looks = looksOf(request);
  const reach = yield* reachOf(q, request.agent_url, looks, given);
  const selectors = looks.map(({ filters, domain }) => verdict(filters, domain, reach.get(domain) ?? nothing));
  const requested = selectors.reduce((sum, one) => sum + one.requested_count, 0);
  const authorized = selectors.reduce((sum, one) => sum + one.authorized_count, 0);
  return {
    agent_url: request.agent_url,
    authorized: requested > 0 && authorized === requested,
    coverage_percentage: requested === 0 ? 0 : Math.round((100 * authorized) / requested),
    total_requested: requested,
    total_authorized: authorized,
    selectors,
    checked_at: iso(given.now),
  };
}

/** How one publisher answers a selector. Items are property ids; of properties without one, their names. */
function verdict(filters: Filters, domain: string, { offered, sells, wide, source }: Seen): Verdict {
  const properties = offered.offers;
  const items = new Map<string, boolean>();
  const note = (item: string, fine: boolean): void => {
    items.set(item, (items.get(item) ?? false) || fine);
  };
  if (filters.ids !== undefined) {
    for (const id of filters.ids) note(id, false);
    for (const one of properties) if (passes(filters, one) && sells(one)) note(one.id!, true);
  } else {
    for (const one of properties) if (passes(filters, one)) note(one.id ?? one.name, sells(one));
    // A publisher that lists no property can still be sold as a whole.
    if (filters.selection === "all" && properties.length === 0) note(domain, wide);
  }
  const missing = [...items].filter(([, fine]) => !fine).map(([item]) => item);
  return {
    publisher_domain: domain,
    selection_type: filters.selection,
    requested_count: items.size,
    authorized_count: items.size - missing.length,
    unauthorized_items: missing,
    source,
  };
}
