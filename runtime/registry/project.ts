/**
 * From what a publisher says to rows: which properties there are, which of them each agent may sell, and what that adds
 * to the agent's profile. No database here.
 */
import { createHash } from "node:crypto";
import type { EffectState } from "../store/registry-effect.js";
import type { EdgeRow, EdgeSource, PropertyRow, PropertySource } from "../store/registry-publishers.js";
import { contributionOf, distinct } from "./contribution.js";
import { coversOf, inOrderOfAgents, keyedProperties, Matcher, type SetProperty, type SourceSet } from "./matching.js";
import type { AgentEntry, AuthorizationFile, DelegationType } from "./types.js";

/** An entry as an edge keeps it; what is null or empty is left out. */
export type StoredEntry = Partial<Omit<AgentEntry, "agentUrl" | "properties">> & {
  /** Keys of the properties it covers; null is all the publisher has. */
  readonly covers: readonly string[] | null;
};

/** Whether an entry authorizes anything at a time. */
export const activeAt = (entry: Pick<AgentEntry, "effectiveFrom" | "effectiveUntil">, now: number): boolean =>
  (entry.effectiveFrom ?? -Infinity) <= now && now <= (entry.effectiveUntil ?? Infinity);

/** An edge before its publisher and agent have numbers. */
export type ProjectedEdge = Omit<EdgeRow, "publisher" | "agent"> & { readonly agentUrl: string };

const compact = (entry: StoredEntry): StoredEntry =>
  Object.fromEntries(
    Object.entries(entry).filter(
      ([name, value]) =>
        name === "covers" || (value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0)),
    ),
  ) as unknown as StoredEntry;

function storedEntry({ agentUrl: _, properties: __, ...entry }: AgentEntry, covers: string[] | null): StoredEntry {
  return compact({ ...entry, covers });
}

/** When any of some entries begins or ceases to be in effect next; null where none will. */
function nextChange(entries: readonly StoredEntry[], now: number): number | null {
  // An entry is in effect at the last instant too.
  const ends = (until: number | null | undefined): number => (until == null ? Infinity : until + 1);
  const times = entries.flatMap(({ effectiveFrom, effectiveUntil }) => [effectiveFrom ?? 0, ends(effectiveUntil)]);
  const next = Math.min(...times.filter((at) => at > now));
  return Number.isFinite(next) ? next : null;
}

/** What lists of keys come to. */
export type Covered = (lists: readonly (readonly string[])[]) => {
  readonly covered: number;
  readonly coverage: string;
};

/** @param propertyOf the property of a key */
export function coveredBy(propertyOf: (key: string) => SetProperty | undefined): Covered {
  const known = new WeakMap<readonly string[], ReturnType<Covered>>();
  return (lists) => {
    // Thousands of agents may share one list.
    const alone = lists.length === 1 ? lists[0] : undefined;
    const found = alone && known.get(alone);
    if (found !== undefined) return found;
    const keys = new Set(lists.flat());
    const properties = [...keys].flatMap((key) => propertyOf(key) ?? []);
    const made = { covered: keys.size, coverage: JSON.stringify(contributionOf(properties)) };
    if (alone !== undefined) known.set(alone, made);
    return made;
  };
}

/** What the entries of an edge come to at a time. */
export function stateOf(entries: readonly StoredEntry[], covered: Covered, now: number): EffectState {
  const active = entries.filter((entry) => activeAt(entry, now));
  const wide = active.some(({ covers }) => covers === null);
  const countries = distinct(active.flatMap((entry) => entry.countries ?? []));
  const given = {
    countries: countries.length === 0 ? null : JSON.stringify(countries),
    wide: wide ? 1 : 0,
    changes_at: nextChange(entries, now),
  };
  // Null on an edge that is not wide: nothing of it is in effect.
  if (wide || active.length === 0) return { ...given, covered: 0, coverage: null };
  return { ...given, ...covered(active.map(({ covers }) => covers ?? [])) };
}

/** One edge per agent: a file may name it in several entries. */
export function projectEdges(
  set: SourceSet,
  given: { readonly source: EdgeSource; readonly claimant?: string; readonly now: number },
): ProjectedEdge[] {
  const keyed = keyedProperties(set);
  const matcher = new Matcher(keyed);
  const covered = coveredBy((key) => keyed.get(key));
  return inOrderOfAgents(set.agents).map((entries, position) => {
    const stored = entries.map((entry) => storedEntry(entry, coversOf(entry, matcher)));
    return {
      agentUrl: entries[0]!.agentUrl,
      source: given.source,
      claimant: given.claimant ?? "",
      position,
      authorized_for: entries.find(({ authorizedFor }) => authorizedFor !== null)?.authorizedFor ?? null,
      entries: JSON.stringify(stored),
      ...stateOf(stored, covered, given.now),
    };
  });
}

export const projectProperties = (set: SourceSet, source: PropertySource): Omit<PropertyRow, "publisher">[] =>
  [...keyedProperties(set)].map(([key, property], position) => ({
    source,
    key,
    position,
    slug: property.id,
    type: property.type,
    name: property.name,
    identifiers: JSON.stringify(property.identifiers.map(({ type, value }) => [type, value])),
    tags: JSON.stringify(property.tags),
    channels:
      property.channels === undefined || property.channels.length === 0 ? null : JSON.stringify(property.channels),
    delegation: property.delegation ?? null,
  }));

export const identifiersOfRow = (row: Pick<PropertyRow, "identifiers">): { type: string; value: string }[] =>
  (JSON.parse(row.identifiers) as [string, string][]).map(([type, value]) => ({ type, value }));

/** A row's property, for those who compute with it. */
export const propertyOfRow = (row: PropertyRow): SetProperty => ({
  id: row.slug,
  type: row.type,
  name: row.name,
  identifiers: identifiersOfRow(row),
  tags: JSON.parse(row.tags) as string[],
  ...(row.channels !== null && { channels: JSON.parse(row.channels) as string[] }),
  ...(row.delegation !== null && { delegation: row.delegation as DelegationType }),
});

/** What two sources must share to speak of one property. */
const identity = (property: Pick<SetProperty, "type" | "name" | "identifiers">): string => {
  const first = property.identifiers[0];
  return first === undefined ? `${property.type}|${property.name}` : `${first.type}:${first.value.toLowerCase()}`;
};

/**
 * The properties that count: those of the publisher's own file, else of the file hosted for it; then what was discovered
 * elsewhere and is not among them (docs/protocol/registry.md#precedence). The brand file's never count.
 */
export function effective<P extends { readonly source: PropertySource }>(
  properties: readonly P[],
  valid: boolean,
  propertyOf: (one: P) => Pick<SetProperty, "type" | "name" | "identifiers">,
): P[] {
  const of = (source: PropertySource): P[] => properties.filter((one) => one.source === source);
  const own = of("adagents_json");
  const first = valid || own.length > 0 ? own : of("aao_hosted");
  const discovered = of("discovered");
  if (discovered.length === 0) return first;
  const known = new Set(first.map((one) => identity(propertyOf(one))));
  return [...first, ...discovered.filter((one) => !known.has(identity(propertyOf(one))))];
}

/** Tells whether a set is as it was: its content, and which of its entries are in effect. */
export function digestOf(set: SourceSet, others: unknown, now: number): string {
  const active = set.agents.map((entry) => activeAt(entry, now));
  return createHash("sha256")
    .update(JSON.stringify([set, others, active]))
    .digest("base64url")
    .slice(0, 22);
}

export const setOfFile = ({ properties, agents, genres, genreTaxonomy }: AuthorizationFile): SourceSet => ({
  properties,
  agents,
  genres,
  taxonomy: genreTaxonomy,
});
