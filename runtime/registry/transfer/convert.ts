/** Between lines and what the registry keeps. */

import { AdbindError } from "../../errors.js";
import type { PropertySource } from "../../store/registry-publishers.js";
import { type Brand, presentBrand } from "../brand.js";
import type { SetProperty, SourceSet } from "../matching.js";
import { agentType } from "../members.js";
import { agentUrlOf, publisherDomain } from "../model.js";
import type { PublisherChange, PublisherFacts } from "../prepared.js";
import type { AgentEntry, Member } from "../types.js";
import type { AgentLine, FileLine, MemberLine, PropertyLine, PublisherLine } from "./lines.js";

/** What a line means cannot be kept, though its form is right. */
export class LineError extends Error {}

/** Of the line itself, and not of a database that is away, busy or damaged: the line would be left out for good. */
export const isRefusal = (error: unknown): error is AdbindError =>
  error instanceof AdbindError && error.code === "registry_data_invalid";

export const refusedLine = (line: number, why: string): AdbindError =>
  new AdbindError("registry_data_invalid", `a line cannot be imported: ${why}`, {
    where: `line ${line}`,
    remedy: "correct it and import again; what came before it is kept",
  });

export function requiredDomain(given: string): string {
  const domain = publisherDomain(given);
  if (domain === undefined) throw new LineError(`${given.slice(0, 200)} is no domain`);
  return domain;
}

export function urlIn(given: string): string {
  const url = agentUrlOf(given);
  if (url === undefined) throw new LineError(`${given.slice(0, 200)} is no http or https URL`);
  return url;
}

function propertyIn(line: PropertyLine): SetProperty {
  return {
    id: line.property_id ?? null,
    type: line.property_type,
    name: line.name,
    identifiers: line.identifiers,
    tags: line.tags ?? [],
    ...(line.supported_channels !== undefined && { channels: line.supported_channels }),
    ...(line.delegation_type !== undefined && { delegation: line.delegation_type }),
  };
}

function entryIn(line: AgentLine): AgentEntry {
  return {
    agentUrl: urlIn(line.url),
    authorizedFor: line.authorized_for ?? null,
    authorizationType: line.authorization_type ?? null,
    ...(line.property_ids && { propertyIds: line.property_ids }),
    ...(line.property_tags && { propertyTags: line.property_tags }),
    ...(line.properties && { properties: line.properties.map(propertyIn) }),
    ...(line.publisher_properties && {
      publisherProperties: line.publisher_properties.map((selector) => ({
        ...(selector.property_ids && { propertyIds: selector.property_ids }),
        ...(selector.property_types && { propertyTypes: selector.property_types }),
        ...(selector.tags && { tags: selector.tags }),
      })),
    }),
    ...(line.countries && { countries: line.countries }),
    ...(line.delegation_type && { delegationType: line.delegation_type }),
    ...(line.exclusive !== undefined && { exclusive: line.exclusive }),
    ...(line.effective_from && { effectiveFrom: Date.parse(line.effective_from) }),
    ...(line.effective_until && { effectiveUntil: Date.parse(line.effective_until) }),
    ...(line.placement_ids && { placementIds: line.placement_ids }),
    ...(line.placement_tags && { placementTags: line.placement_tags }),
    ...(line.signal_ids && { signalIds: line.signal_ids }),
    ...(line.signal_tags && { signalTags: line.signal_tags }),
    ...(line.signing_keys && { signingKeys: line.signing_keys }),
  };
}

const setIn = (line: FileLine): SourceSet => ({
  properties: (line.properties ?? []).map(propertyIn),
  agents: (line.authorized_agents ?? []).map(entryIn),
  genres: line.genres ?? [],
  taxonomy: line.genre_taxonomy ?? null,
});

const othersIn = (line: FileLine): { publisherDomain: string; agent: AgentEntry }[] =>
  (line.others ?? []).map(({ publisher_domain, agent }) => ({
    publisherDomain: requiredDomain(publisher_domain),
    agent: entryIn(agent),
  }));

const brandIn = ({ name, agents = [] }: NonNullable<PublisherLine["brand_json"]>): Brand => ({
  name: name ?? null,
  agents: agents.map((agent) => ({ ...agent, url: urlIn(agent.url), type: agentType(agent.type) })),
});

const ms = (iso: string | undefined): number | null => (iso === undefined ? null : Date.parse(iso));

export function publisherChange(line: PublisherLine): PublisherChange {
  const sets: Partial<Record<PropertySource, SourceSet>> = {};
  if (line.adagents_json) sets.adagents_json = setIn(line.adagents_json);
  if (line.aao_hosted) sets.aao_hosted = setIn(line.aao_hosted);
  if (line.discovered) sets.discovered = setIn(line.discovered);
  if (line.brand_json) sets.brand_json = setIn(line.brand_json);
  const facts: PublisherFacts = {
    ...crawlFacts(line),
    ...(line.brand_json && presentBrand(brandIn(line.brand_json))),
  };
  const others = line.adagents_json && othersIn(line.adagents_json);
  const fetchedAt = fetchTime(line.crawl);
  return {
    ...{ domain: requiredDomain(line.domain), facts: () => facts, sets },
    ...(others && { others }),
    ...(fetchedAt !== null && { fetchedAt }),
  };
}

/** An attempt that reached nobody left what was there before. */
const fetchTime = (crawl: PublisherLine["crawl"]): number | null =>
  ms(crawl?.outcome === "unreachable" ? crawl.validated_at : crawl?.crawled_at);

/** A file without a word on its crawl is taken as valid; it is crawled as soon as somebody asks for it. */
function crawlFacts({ crawl, adagents_json }: PublisherLine): PublisherFacts {
  if (crawl === undefined) return adagents_json === undefined ? {} : { valid: 1 };
  return {
    valid: crawl.valid === undefined ? null : crawl.valid ? 1 : 0,
    outcome: crawl.outcome ?? null,
    method: crawl.method ?? null,
    manager_domain: crawl.manager_domain === undefined ? null : requiredDomain(crawl.manager_domain),
    crawled_at: ms(crawl.crawled_at),
    validated_at: ms(crawl.validated_at),
    http_status: crawl.http_status ?? null,
    bytes: crawl.bytes ?? null,
    resolved_url: crawl.resolved_url ?? null,
  };
}

export const memberIn = (line: MemberLine): Member => ({
  slug: line.slug,
  organization: line.organization ?? null,
  displayName: line.display_name,
  tier: line.tier ?? null,
  founding: line.founding ?? false,
  isPublic: line.is_public ?? true,
  domains: line.domains ?? [],
  agents: (line.agents ?? []).map((agent) => ({
    url: agent.url,
    name: agent.name ?? null,
    type: agentType(agent.type ?? "sales"),
    visibility: agent.visibility ?? "public",
    deliveryTypes: agent.delivery_types ?? [],
    formatKinds: agent.format_kinds ?? [],
    hasTmp: agent.has_tmp ?? false,
  })),
});

export const propertyOut = (property: SetProperty): PropertyLine => ({
  ...(property.id !== null && { property_id: property.id }),
  property_type: property.type,
  name: property.name,
  identifiers: property.identifiers.map(({ type, value }) => ({ type, value })),
  ...(property.tags.length > 0 && { tags: [...property.tags] }),
  ...(property.channels !== undefined &&
    property.channels.length > 0 && { supported_channels: [...property.channels] }),
  ...(property.delegation != null && { delegation_type: property.delegation }),
});

const at = (ms: number): string => new Date(ms).toISOString();

/** @param inline the properties of an `inline_properties` entry */
export function agentOut(
  entry: Partial<AgentEntry> & { readonly agentUrl: string },
  inline: readonly SetProperty[],
): AgentLine {
  return {
    url: entry.agentUrl,
    ...(entry.authorizedFor != null && { authorized_for: entry.authorizedFor }),
    ...(entry.authorizationType != null && { authorization_type: entry.authorizationType }),
    ...(entry.propertyIds && { property_ids: [...entry.propertyIds] }),
    ...(entry.propertyTags && { property_tags: [...entry.propertyTags] }),
    ...(inline.length > 0 && { properties: inline.map(propertyOut) }),
    ...(entry.publisherProperties && {
      publisher_properties: entry.publisherProperties.map((selector) => ({
        ...(selector.propertyIds && { property_ids: [...selector.propertyIds] }),
        ...(selector.propertyTypes && { property_types: [...selector.propertyTypes] }),
        ...(selector.tags && { tags: [...selector.tags] }),
      })),
    }),
    ...(entry.countries && { countries: [...entry.countries] }),
    ...(entry.delegationType != null && { delegation_type: entry.delegationType }),
    ...(entry.exclusive != null && { exclusive: entry.exclusive }),
    ...(entry.effectiveFrom != null && { effective_from: at(entry.effectiveFrom) }),
    ...(entry.effectiveUntil != null && { effective_until: at(entry.effectiveUntil) }),
    ...(entry.placementIds && { placement_ids: [...entry.placementIds] }),
    ...(entry.placementTags && { placement_tags: [...entry.placementTags] }),
    ...(entry.signalIds && { signal_ids: [...entry.signalIds] }),
    ...(entry.signalTags && { signal_tags: [...entry.signalTags] }),
    ...(entry.signingKeys && { signing_keys: [...entry.signingKeys] }),
  };
}

export const memberOut = (member: Member): MemberLine => ({
  kind: "member",
  slug: member.slug,
  ...(member.organization !== null && { organization: member.organization }),
  display_name: member.displayName,
  ...(member.tier !== null && { tier: member.tier }),
  founding: member.founding,
  is_public: member.isPublic,
  domains: member.domains.map(({ domain, verified }) => ({ domain, verified })),
  agents: member.agents.map((agent) => ({
    url: agent.url,
    ...(agent.name !== null && { name: agent.name }),
    type: agent.type,
    visibility: agent.visibility,
    delivery_types: [...agent.deliveryTypes],
    format_kinds: [...agent.formatKinds],
    has_tmp: agent.hasTmp,
  })),
});
