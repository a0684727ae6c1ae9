/** Publisher lookups: what is known of a domain, as the API says it. */
import type { Coroutine } from "../db/coroutine.js";
import type { Query } from "../db/types.js";
import {
  agentsByUrl,
  domainOwners,
  type HostedRow,
  hostedByDomain,
  type MemberRow,
  membersById,
} from "../store/registry-agents.js";
import { claimsBetween } from "../store/registry-claims.js";
import {
  type EdgeFacts,
  edgesBetween,
  propertiesAt,
  propertyCount,
  propertyKeys,
  publishersByDomain,
} from "../store/registry-lookups.js";
import type { EdgeSource, PublisherRow } from "../store/registry-publishers.js";
import { AGENTS_LIMIT, factsAt, pagedAgents, readAgentsCursor } from "./agent-pages.js";
import { brandTold } from "./brand.js";
import { coverage } from "./coverage.js";
import {
  comesFrom,
  type KnownProperty,
  knownLists,
  knownProperty,
  type PropertyList,
  propertiesPart,
} from "./known-properties.js";
import { byCodePoint, expectedUrl, hostedUrl, isoOrNull } from "./model.js";
import { aboutPart, fileStateOf, PROPERTIES_LIMIT, readPropertiesCursor } from "./property-pages.js";
import type { AuthorizationLookup, DiscoveryMethod, DomainAgents, LookupPage, Page, PublisherLookup } from "./types.js";

/** Most agents whose counts a lookup makes (docs/protocol/registry.md#rollup). */
const ROLLUP_CAP_AGENTS = 50;

/** A key names a property of the source its edge belongs to. */
export const covers = (
  covered: ReadonlySet<string> | null,
  edge: { readonly source: EdgeSource },
  property: Pick<KnownProperty, "source" | "key">,
): boolean => covered === null || (property.source === edge.source && covered.has(property.key));

/** What an agent claims, or somebody else says of the publisher, is listed; the publisher authorizes none of it. */
const confirmed = (
  edge: { readonly source: EdgeSource },
  covered: ReadonlySet<string> | null,
  one: Pick<KnownProperty, "source" | "key">,
) => edge.source !== "agent_claim" && covers(covered, edge, one);

/** Edges that count: a hosted file gives way to the publisher's own, and what is out of effect is not there. */
export function effectiveEdges<E extends { readonly source: EdgeSource; readonly entries: string }>(
  edges: readonly E[],
  valid: boolean,
  now: number,
): { readonly edge: E; readonly covered: ReadonlySet<string> | null }[] {
  return edges.flatMap((edge) => {
    if (edge.source === "aao_hosted" && valid) return [];
    const covered = coverage(edge, now);
    return covered === undefined ? [] : [{ edge, covered }];
  });
}

/**
 * How much of a publisher's properties an agent may sell.
 * @param stored those that count
 */
function countsOf(stored: PropertyList, { source, wide, covered }: EdgeFacts) {
  const all = source !== "agent_claim" && wide === 1;
  // The properties of one file count all of them, or none.
  const counted = comesFrom(stored, source) ? covered : 0;
  return { properties_authorized: all ? stored.total : counted, properties_total: stored.total, publisher_wide: all };
}

interface LookupOptions extends LookupPage {
  readonly publicUrl: string;
  readonly now: number;
}

export function* lookupPublisher(
  q: Query,
  domain: string,
  { publicUrl, now, cursor: text, limit = PROPERTIES_LIMIT, agentsCursor, agentsLimit = AGENTS_LIMIT }: LookupOptions,
): Coroutine<Page<PublisherLookup>> {
  const cursor = text === undefined ? undefined : readPropertiesCursor(text);
  const after = agentsCursor === undefined ? undefined : readAgentsCursor(agentsCursor);
  if ((text !== undefined && cursor === undefined) || (agentsCursor !== undefined && after === undefined))
    return { ok: false, reason: "cursor_invalid" };
  const [row] = yield* publishersByDomain(q, [domain]);
  const state = fileStateOf(row);
  // Pages of different files make no list of properties.
  if (cursor !== undefined && cursor.state !== state) return { ok: false, reason: "cursor_expired" };
  const { counted: stored, brand } = yield* knownLists(q, row);
  const agents = row === undefined ? [] : (yield* factsAt(q, row, now)).map((edge) => ({ edge }));
  const claimed = agents.some(({ edge }) => edge.source === "agent_claim");
  // Counts say nothing where every property comes from the brand file and nobody claims any.
  const counted = !(stored.total === 0 && brand.total > 0 && !claimed);
  const properties = stored.total > 0 ? stored : brand;
  const offset = cursor?.offset ?? 0;
  const shown = row === undefined ? [] : yield* propertiesPart(q, row.id, properties, { offset, limit });
  const page = pagedAgents(agents, after, agentsLimit);
  const value: PublisherLookup = {
    ...(yield* aboutPublisher(q, domain, row, publicUrl)),
    properties: shown.map(publisherProperty),
    ...aboutPart({ offset, shown: shown.length, total: properties.total, state }),
    ...(row?.properties_declared != null && {
      truncated: {
        declared: row.properties_declared,
        kept: yield* propertyCount(q, row.id, "adagents_json"),
      },
    }),
    authorized_agents: page.shown.map(({ edge }, index) => ({
      url: edge.url,
      ...(edge.authorized_for !== null && { authorized_for: edge.authorized_for }),
      source: edge.source,
      ...(counted && page.before + index < ROLLUP_CAP_AGENTS && countsOf(stored, edge)),
    })),
    ...page.about,
    ...(agents.length > ROLLUP_CAP_AGENTS && {
      rollup_truncated: { cap: ROLLUP_CAP_AGENTS, total_agents: agents.length },
    }),
  };
  return { ok: true, value };
}

/** What is known of a publisher beside its properties and agents. */
export function* aboutPublisher(
  q: Query,
  domain: string,
  row: PublisherRow | undefined,
  publicUrl: string,
): Coroutine<Omit<PublisherLookup, "properties" | "authorized_agents">> {
  const hosted = yield* hostedByDomain(q, domain);
  const member = yield* verifiedOwner(q, [domain]);
  return {
    domain,
    member: member === undefined ? null : { slug: member.slug, display_name: member.display_name },
    adagents_valid: row?.valid == null ? null : row.valid === 1,
    discovery_method: (row?.method ?? null) as DiscoveryMethod | null,
    manager_domain: row?.method === "ads_txt_managerdomain" ? row.manager_domain : null,
    hosting: hostingOf(domain, row, hosted, publicUrl),
    files: {
      adagents_json: {
        status: fileStatus(row),
        expected_url: expectedUrl(domain),
      },
      brand_json: row?.brand_outcome === "present" ? { status: "present", ...brandTold(row) } : { status: "unknown" },
    },
  };
}

/** The origin's last word that there is no file is a state of its own, whatever an earlier file still says. */
function fileStatus(row: PublisherRow | undefined): "valid" | "invalid" | "absent" | "unknown" {
  if (row?.outcome === "absent") return "absent";
  if (row?.valid == null) return "unknown";
  return row.valid === 1 ? "valid" : "invalid";
}

const shownSource = {
  adagents_json: "adagents_json",
  aao_hosted: "adagents_json",
  discovered: "discovered",
  brand_json: "brand_json",
} as const;

const publisherProperty = ({ source, property }: KnownProperty): PublisherLookup["properties"][number] => ({
  ...(property.id !== null && { id: property.id }),
  type: property.type,
  name: property.name,
  identifiers: property.identifiers.map(({ type, value }) => ({ type, value })),
  tags: property.tags,
  source: shownSource[source],
  ...(source === "brand_json" && property.delegation != null && { delegation_type: property.delegation }),
});

type Mode = PublisherLookup["hosting"]["mode"];

/** Where the file is, and how the last fetch went (docs/protocol/registry.md#hosting). */
function hostingOf(
  domain: string,
  row: PublisherRow | undefined,
  hosted: HostedRow | undefined,
  publicUrl: string,
): PublisherLookup["hosting"] {
  const here = hostedUrl(publicUrl, domain);
  const target = row?.valid === 1 ? row.resolved_url : null;
  const mode = modeOf(row, { hosted: hosted !== undefined, target, here });
  return {
    mode,
    expected_url: expectedUrl(domain),
    ...(mode === "aao_hosted" && { hosted_url: here }),
    resolved_url: mode === "self_redirected" || (mode === "aao_hosted" && target === here) ? target : null,
    last_validated: isoOrNull(row?.validated_at ?? null),
    last_http_status: row?.http_status ?? null,
    last_bytes: row?.bytes ?? null,
    origin_verified_at: mode === "aao_hosted" ? isoOrNull(hosted?.origin_verified_at ?? null) : null,
    origin_last_checked_at: mode === "aao_hosted" ? isoOrNull(hosted?.origin_checked_at ?? null) : null,
  };
}

function modeOf(
  row: PublisherRow | undefined,
  { hosted, target, here }: { readonly hosted: boolean; readonly target: string | null; readonly here: string },
): Mode {
  if (row?.valid != null && (row.http_status ?? 0) >= 400) return "self_invalid";
  if (row?.valid === 1) {
    if (target === here) return "aao_hosted";
    if (row.outcome === "invalid") return "self_invalid";
    // A redirect within the publisher's own domains is still the publisher's own file.
    return target === null || row.method === "direct" ? "self" : "self_redirected";
  }
  if (hosted) return "aao_hosted";
  return row?.valid === 0 ? "self_invalid" : "none";
}

/** The member that owns the first of these domains that any member owns. */
export function* verifiedOwner(q: Query, domains: readonly string[]): Coroutine<MemberRow | undefined> {
  const owners = yield* domainOwners(q, domains);
  const best = domains.flatMap((domain) => owners.filter((one) => one.domain === domain))[0];
  return best === undefined ? undefined : (yield* membersById(q, [best.member]))[0];
}

/** Those of a list that an edge does not let its agent sell: how many they are, and the first of them. */
function* missingIn(
  q: Query,
  publisher: number,
  list: PropertyList,
  { edge, covered }: { readonly edge: { readonly source: EdgeSource }; readonly covered: ReadonlySet<string> | null },
): Coroutine<{ count: number; first: readonly KnownProperty[] }> {
  const { source, read, total } = list;
  if (source === undefined) {
    const missing = read.filter((one) => !confirmed(edge, covered, one));
    return { count: missing.length, first: missing.slice(0, PROPERTIES_LIMIT) };
  }
  if (edge.source !== "agent_claim" && covered === null) return { count: 0, first: [] };
  if (covered === null || edge.source !== source) {
    const first = yield* propertiesPart(q, publisher, list, { offset: 0, limit: PROPERTIES_LIMIT });
    return { count: total, first };
  }
  const keys = (yield* propertyKeys(q, publisher, source)).map(({ key }) => key).filter((key) => !covered.has(key));
  const first = yield* propertiesAt(q, { publisher, source, keys: keys.slice(0, PROPERTIES_LIMIT) });
  return { count: keys.length, first: first.map(knownProperty) };
}

export function* lookupAuthorization(
  q: Query,
  domain: string,
  agentUrl: string,
  now: number,
): Coroutine<AuthorizationLookup | undefined> {
  const [row] = yield* publishersByDomain(q, [domain]);
  const [agent] = yield* agentsByUrl(q, [agentUrl]);
  if (row === undefined || agent === undefined) return undefined;
  const own = yield* edgesBetween(q, agent.id, [row.id]);
  const edges = [...own, ...(yield* claimsBetween(q, agent.id, row.id, 1))];
  const found = effectiveEdges(edges, row.valid === 1, now)[0];
  if (found === undefined) return undefined;
  const { edge, covered } = found;
  const { counted: stored } = yield* knownLists(q, row);
  const missing = yield* missingIn(q, row.id, stored, { edge, covered });
  return {
    publisher_domain: domain,
    agent_url: agentUrl,
    authorized: stored.total - missing.count,
    total: stored.total,
    publisher_wide: edge.source !== "agent_claim" && covered === null,
    source: edge.source,
    ...(edge.authorized_for !== null && { authorized_for: edge.authorized_for }),
    unauthorized_properties: missing.first.map(({ property }) => ({
      ...(property.id !== null && { id: property.id }),
      name: property.name,
      type: property.type,
    })),
  };
}

export function* lookupDomain(q: Query, domain: string, now: number): Coroutine<DomainAgents> {
  const [row] = yield* publishersByDomain(q, [domain]);
  const agents = row === undefined ? [] : yield* factsAt(q, row, now);
  const named = agents.filter(({ source }) => source !== "agent_claim");
  const own = new Set(named.map(({ url }) => url));
  const shown = ({ url, authorized_for }: EdgeFacts): DomainAgents["authorized_agents"][number] => ({
    url,
    ...(authorized_for !== null && { authorized_for }),
  });
  const claiming = agents.filter(({ source, url }) => source === "agent_claim" && !own.has(url));
  return {
    domain,
    authorized_agents: [...named].sort((a, b) => byCodePoint(a.url, b.url)).map(shown),
    sales_agents_claiming: claiming.map(shown),
  };
}
