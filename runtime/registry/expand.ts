/** Products in terms of properties: what selectors stand for, and how far an agent may sell it. */
import { AdbindError } from "../errors.js";
import type { Flow } from "../signing/flow.js";
import { agentsByUrl } from "../store/registry-agents.js";
import { edgesBetween, propertiesOf, publishersByDomain } from "../store/registry-lookups.js";
import type { PublisherRow } from "../store/registry-publishers.js";
import type { Query } from "../store/registry-query.js";
import { agentUrlOf, byCodePoint, iso, publisherDomain } from "./model.js";
import { effective, type SetProperty } from "./project.js";
import { covers, type KnownProperty, knownProperty, standing } from "./publisher.js";
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

const passes = ({ ids, types, tags }: Filters, property: SetProperty): boolean =>
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
  readonly properties: readonly KnownProperty[];
  readonly authorized: ReadonlySet<KnownProperty>;
  /** All the publisher has may be sold, now and later. */
  readonly wide: boolean;
  readonly source: AuthorizationSource | "none";
}

const nothing: Reach = { properties: [], authorized: new Set(), wide: false, source: "none" };

/** What an agent may sell of these publishers. Only a publisher's own word lets it sell; a claim is told, and no more. */
function* reachOf(q: Query, agentUrl: string, looks: readonly Look[], now: number): Flow<Map<string, Reach>> {
  const url = agentUrlOf(agentUrl);
  const [agent] = url === undefined ? [] : yield* agentsByUrl(q, [url]);
  const rows = yield* publishersByDomain(q, [...new Set(looks.map(({ domain }) => domain))]);
  refuseTooMuch(rows, looks);
  const ids = rows.map(({ id }) => id);
  const edges = agent === undefined ? [] : yield* edgesBetween(q, agent.id, ids);
  const byPublisher = Map.groupBy(edges, ({ publisher }) => publisher);
  const properties = Map.groupBy(yield* propertiesOf(q, ids), ({ publisher }) => publisher);
  return new Map(
    rows.map(({ id, domain, valid }) => {
      const all = effective((properties.get(id) ?? []).map(knownProperty), valid === 1);
      const standingEdges = standing(byPublisher.get(id) ?? [], valid === 1, now);
      const own = standingEdges.filter(({ edge }) => edge.source !== "agent_claim");
      const authorized = all.filter((one) => own.some(({ edge, covered }) => covers(covered, edge, one)));
      return [
        domain,
        {
          properties: all,
          authorized: new Set(authorized),
          wide: own.some(({ covered }) => covered === null),
          source: (own[0] ?? standingEdges[0])?.edge.source ?? "none",
        },
      ];
    }),
  );
}

/** @throws AdbindError `registry_data_invalid` when a request would keep the registry from answering others */
function refuseTooMuch(rows: readonly PublisherRow[], looks: readonly Look[]): void {
  const counts = new Map(rows.map((row) => [row.domain, row.property_count]));
  const read = rows.reduce((sum, row) => sum + row.property_count, 0);
  const compared = looks.reduce((sum, { domain }) => sum + (counts.get(domain) ?? 0), 0);
  if (read > READING_LIMIT || compared > MATCHING_LIMIT)
    throw new AdbindError("registry_data_invalid", "the selectors ask for too much at once", {
      remedy: "ask for fewer of them at a time",
    });
}

export function* expand(q: Query, request: ExpandRequest, now: number): Flow<ExpandResult> {
  const looks = looksOf(request);
  const reach = yield* reachOf(q, request.agent_url, looks, now);
  const picked = new Set<KnownProperty>();
  const domainOf = new Map<KnownProperty, string>();
  for (const { filters, domain } of looks) {
    for (const one of reach.get(domain)?.authorized ?? []) {
      if (!passes(filters, one.property)) continue;
      picked.add(one);
      domainOf.set(one, domain);
    }
  }
  const properties = [...picked]
    .map((one) => expandedProperty(one.property, domainOf.get(one)!))
    .sort(
      (a, b) =>
        byCodePoint(a.publisher_domain, b.publisher_domain) ||
        byCodePoint(a.property_type, b.property_type) ||
        byCodePoint(a.property_name, b.property_name) ||
        byCodePoint(a.property_id, b.property_id),
    );
  const identifiers = identifiersOf(properties);
  return {
    agent_url: request.agent_url,
    properties,
    identifiers,
    property_count: properties.length,
    identifier_count: identifiers.length,
    generated_at: iso(now),
  };
}

const expandedProperty = (property: SetProperty, domain: string): ExpandResult["properties"][number] => ({
  publisher_domain: domain,
  property_id: property.id ?? "",
  property_name: property.name,
  property_type: property.type,
  identifiers: property.identifiers.map(({ type, value }) => ({ type, value })),
  tags: property.tags,
});

/** Each identifier of a property once; properties without a name of their own share one list per domain. */
function identifiersOf(properties: ExpandResult["properties"]): ExpandResult["identifiers"][number][] {
  const all: ExpandResult["identifiers"][number][] = [];
  const known = new Map<string, Set<string>>();
  for (const { identifiers, property_id, publisher_domain } of properties) {
    // A domain holds no blank, and the length says where a type ends: no two give one key.
    const property = `${publisher_domain} ${property_id}`;
    const own = known.get(property) ?? new Set();
    known.set(property, own);
    for (const { type, value } of identifiers) {
      const identifier = `${type.length} ${type} ${value}`;
      if (own.has(identifier)) continue;
      own.add(identifier);
      all.push({ type, value, property_id, publisher_domain });
    }
  }
  return all;
}

type Verdict = ProductAuthorization["selectors"][number];

export function* validateProduct(q: Query, request: ExpandRequest, now: number): Flow<ProductAuthorization> {
  const looks = looksOf(request);
  const reach = yield* reachOf(q, request.agent_url, looks, now);
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
    checked_at: iso(now),
  };
}

/** How one publisher answers a selector. Items are property ids; of properties without one, their names. */
function verdict(filters: Filters, domain: string, { properties, authorized, wide, source }: Reach): Verdict {
  const items = new Map<string, boolean>();
  const note = (item: string, fine: boolean): void => {
    items.set(item, (items.get(item) ?? false) || fine);
  };
  if (filters.ids !== undefined) {
    for (const id of filters.ids) note(id, false);
    for (const one of authorized) if (passes(filters, one.property)) note(one.property.id!, true);
  } else {
    for (const one of properties)
      if (passes(filters, one.property)) note(one.property.id ?? one.property.name, authorized.has(one));
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
