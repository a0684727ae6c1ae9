/** Products in terms of properties: what selectors stand for, and how far an agent may sell it. */
import type { Database } from "../db/types.js";
import { type JsonBytes, JsonList, jsonBytes } from "./json-bytes.js";
import { agentUrlOf, byCodePoint, iso, publisherDomain } from "./model.js";
import type { Offer, Offered, Serialized } from "./offered.js";
import { type Offers, tooMuch } from "./offers.js";
import { covers, effectiveEdges } from "./publisher.js";
import { inPieces, inTurns, type Steps } from "./steps.js";
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

/**
 * Publishers of one request, known or not: looking for each takes its time, and nobody else is answered meanwhile. The largest
 * networks have some seven thousand.
 */
const PUBLISHERS_LIMIT = 10_000;

/**
 * What a verdict on a product may name, in characters: it repeats identifiers that were asked for at each publisher that they were
 * asked of, which makes a short question a long answer.
 */
const VERDICT_CHARACTERS = 16_000_000;
/** What an item takes beside its text, in the same measure. */
const ITEM_CHARACTERS = 16;

const lengthOf = (items: Iterable<string>): number => {
  let sum = 0;
  for (const item of items) sum += item.length + ITEM_CHARACTERS;
  return sum;
};

const present = (list: readonly string[] | undefined): ReadonlySet<string> | undefined =>
  list === undefined || list.length === 0 ? undefined : new Set(list);

/**
 * The protocol's own selector says how it picks, and an empty pick is nothing; without `selection_type` the filters say
 * it all, and an empty one is absent (docs/protocol/registry.md#expansion).
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
interface PublisherSelector {
  readonly filters: Filters;
  readonly domain: string;
}

/** Every selector at every publisher it names. */
const publisherSelectors = (request: ExpandRequest): PublisherSelector[] =>
  request.publisher_properties.flatMap((selector) => {
    const filters = filtersOf(selector);
    return domainsOf(selector).map((domain) => ({ filters, domain }));
  });

/** One publisher as one agent sees it. */
interface AgentView {
  readonly offered: Offered;
  readonly sells: (one: Offer) => boolean;
  /** All the publisher has may be sold, now and later. */
  readonly wide: boolean;
  readonly source: AuthorizationSource | "none";
}

/** What a verdict needs of it. */
type OfferedView = Omit<AgentView, "offered"> & { readonly offered: Pick<Offered, "offers"> };

const nothing: OfferedView = { offered: { offers: [] }, sells: () => false, wide: false, source: "none" };

interface ExpandDependencies {
  readonly offers: Offers;
  /** Who asks: where much is to be done, callers take turns. */
  readonly by: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * What is made of each publisher as an agent may sell it, by domain in their order. Only a publisher's own word lets it
 * sell; a claim is told, and no more.
 * @param make gets what the selectors ask there
 * @throws AdbindError `registry_data_invalid` when a request would keep the registry from answering others
 */
async function agentViews<T>(
  db: Database,
  { agentUrl, asked }: { readonly agentUrl: string; readonly asked: readonly PublisherSelector[] },
  dependencies: ExpandDependencies,
  make: (view: AgentView, asked: readonly Filters[]) => Steps<T>,
): Promise<Map<string, T>> {
  const byDomain = Map.groupBy(asked, ({ domain }) => domain);
  if (byDomain.size > PUBLISHERS_LIMIT) throw tooMuch();
  const made: [domain: string, T][] = [];
  let left = MATCHING_LIMIT;
  // What is no URL is nobody's.
  const wanted = { agentUrl: agentUrlOf(agentUrl) ?? "", domains: [...byDomain.keys()], by: dependencies.by };
  await dependencies.offers.of(db, wanted, function* ({ domain, valid, offered, edges }) {
    const asked = byDomain.get(domain)!.map(({ filters }) => filters);
    left -= offered.offers.length * asked.length;
    if (left < 0) throw tooMuch();
    made.push([domain, yield* make(agentViewAt(offered, effectiveEdges(edges, valid, dependencies.now)), asked)]);
  });
  return new Map(made.sort(([a], [b]) => byCodePoint(a, b)));
}

function agentViewAt(offered: Offered, edges: ReturnType<typeof effectiveEdges>): AgentView {
  const own = edges.filter(({ edge }) => edge.source !== "agent_claim");
  return {
    offered,
    sells: (one) => own.some(({ edge, covered }) => covers(covered, edge, one)),
    wide: own.some(({ covered }) => covered === null),
    source: (own[0] ?? edges[0])?.edge.source ?? "none",
  };
}

/**
 * An expansion, already as JSON: it may have thousands of properties.
 * @throws AdbindError `registry_data_invalid` when the selectors ask for too much at once, `registry_busy` when others do already
 */
export async function expand(
  db: Database,
  request: ExpandRequest,
  dependencies: ExpandDependencies,
): Promise<JsonBytes<ExpandResult>> {
  const { agent_url } = request;
  const question = { agentUrl: agent_url, asked: publisherSelectors(request) };
  const views = await agentViews(db, question, dependencies, function* ({ offered, sells }, asked) {
    const picks: boolean[] = [];
    const pick = (one: Offer): void => void picks.push(sells(one) && asked.some((filters) => passes(filters, one)));
    yield* inPieces(offered.offers, pick, asked.length);
    return yield* offered.serialized(picks);
  });
  const serialized = [...views.values()];
  const sum = (of: (one: Serialized) => number): number => serialized.reduce((all, one) => all + of(one), 0);
  const members = {
    agent_url,
    properties: new JsonList(serialized.flatMap(({ properties }) => properties)),
    identifiers: new JsonList(serialized.flatMap(({ identifiers }) => identifiers)),
    property_count: sum((one) => one.propertyCount),
    identifier_count: sum((one) => one.identifierCount),
  };
  return jsonBytes(members, { generated_at: iso(dependencies.now) });
}

type Verdict = ProductAuthorization["selectors"][number];

/**
 * What every selector comes to at each publisher.
 * @throws AdbindError `registry_data_invalid` when they name too much
 */
function* verdicts(asked: readonly PublisherSelector[], views: ReadonlyMap<string, OfferedView>): Steps<Verdict[]> {
  const lengths = new Map<Filters, number>();
  let left = VERDICT_CHARACTERS;
  const take = (characters: number): void => {
    left -= characters;
    if (left < 0) throw tooMuch();
  };
  const made: Verdict[] = [];
  for (const { filters, domain } of asked) {
    const named = lengths.get(filters) ?? lengthOf(filters.ids ?? []);
    lengths.set(filters, named);
    // Before they are gone through: there may be as many as the request has room for, at as many publishers.
    take(named + domain.length + ITEM_CHARACTERS);
    const found = yield* verdict(filters, domain, views.get(domain) ?? nothing);
    if (filters.ids === undefined) take(lengthOf(found.unauthorized_items));
    made.push(found);
    yield;
  }
  return made;
}

/** @throws AdbindError `registry_data_invalid` when the selectors ask for too much at once, `registry_busy` when others do already */
export async function validateProduct(
  db: Database,
  request: ExpandRequest,
  dependencies: ExpandDependencies,
): Promise<ProductAuthorization> {
  const asked = publisherSelectors(request);
  const question = { agentUrl: request.agent_url, asked };
  // biome-ignore lint/correctness/useYield: nothing is made of one yet
  const views = await agentViews(db, question, dependencies, function* (one) {
    return one;
  });
  const selectors = await inTurns(verdicts(asked, views));
  const requested = selectors.reduce((sum, one) => sum + one.requested_count, 0);
  const authorized = selectors.reduce((sum, one) => sum + one.authorized_count, 0);
  return {
    agent_url: request.agent_url,
    authorized: requested > 0 && authorized === requested,
    coverage_percentage: requested === 0 ? 0 : Math.round((100 * authorized) / requested),
    total_requested: requested,
    total_authorized: authorized,
    selectors,
    checked_at: iso(dependencies.now),
  };
}

/** How one publisher answers a selector. Items are property ids; of properties without one, their names. */
function* verdict(filters: Filters, domain: string, { offered, sells, wide, source }: OfferedView): Steps<Verdict> {
  const properties = offered.offers;
  const items = new Map<string, boolean>();
  const note = (item: string, fine: boolean): void => {
    items.set(item, (items.get(item) ?? false) || fine);
  };
  if (filters.ids !== undefined) {
    for (const id of filters.ids) note(id, false);
    yield* inPieces(properties, (one) => {
      if (passes(filters, one) && sells(one)) note(one.id!, true);
    });
  } else {
    yield* inPieces(properties, (one) => {
      if (passes(filters, one)) note(one.id ?? one.name, sells(one));
    });
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
