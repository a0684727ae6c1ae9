/** Which properties a list comes to: its sources, less what its filters leave out. */
import type { BehaviourCall } from "../frame/call.js";
import type { Family, KeptList } from "../lists/lists.js";
import type { MeasuredProperty, PropertyIdentifier } from "../ports/properties.js";

interface Source {
  readonly selection_type: string;
  readonly identifiers?: readonly PropertyIdentifier[];
  readonly publisher_domain?: string;
  readonly tags?: readonly string[];
  readonly property_ids?: readonly string[];
}

interface Requirement {
  readonly feature_id: string;
  readonly min_value?: number;
  readonly max_value?: number;
  readonly allowed_values?: readonly unknown[];
  readonly if_not_covered?: "exclude" | "include";
  readonly policy_id?: string;
}

export interface PropertyFilters {
  readonly countries_all?: readonly string[];
  readonly channels_any?: readonly string[];
  readonly property_types?: readonly string[];
  readonly feature_requirements?: readonly Requirement[];
  readonly exclude_identifiers?: readonly PropertyIdentifier[];
}

export interface ResolvedProperties {
  readonly identifiers: readonly PropertyIdentifier[];
  /** Identifiers that are in although a feature of theirs is not measured, by feature. */
  readonly gaps: { readonly [feature: string]: readonly PropertyIdentifier[] };
}

/** Hosts are compared without case; other identifiers as they are. */
export const identity = ({ type, value }: PropertyIdentifier): string =>
  `${type} ${type === "domain" || type === "subdomain" ? value.toLowerCase() : value}`;

export const knownProperties = (call: BehaviourCall): Promise<readonly MeasuredProperty[]> =>
  call.once("properties", () => call.ports.properties.properties({ principal: call.principal }));

/** Properties by what identifies them. */
export const propertiesByIdentity = (call: BehaviourCall): Promise<ReadonlyMap<string, MeasuredProperty>> =>
  call.once("properties by identity", async () => {
    const known = await knownProperties(call);
    return new Map(
      known.flatMap((one) => one.identifiers.map((own): [string, MeasuredProperty] => [identity(own), one])),
    );
  });

function drawn(known: readonly MeasuredProperty[], base: readonly Source[] | undefined): PropertyIdentifier[] {
  if (base === undefined) return known.flatMap(({ identifiers }) => identifiers);
  return base.flatMap((source) => {
    if (source.selection_type === "identifiers") return source.identifiers ?? [];
    const published = known.filter(({ publisher_domain }) => publisher_domain === source.publisher_domain);
    const chosen = published.filter(({ property_id, tags }) =>
      source.selection_type === "publisher_ids"
        ? source.property_ids?.includes(property_id)
        : source.tags?.some((tag) => tags.includes(tag)),
    );
    return chosen.flatMap(({ identifiers }) => identifiers);
  });
}

/** Whether a property meets a requirement; undefined where it is not measured. */
export function meets(property: MeasuredProperty | undefined, requirement: Requirement): boolean | undefined {
  const { feature_id, min_value, max_value, allowed_values } = requirement;
  if (property === undefined || !Object.hasOwn(property.features, feature_id)) return undefined;
  const value = property.features[feature_id];
  if (min_value !== undefined && !(typeof value === "number" && value >= min_value)) return false;
  if (max_value !== undefined && !(typeof value === "number" && value <= max_value)) return false;
  return allowed_values === undefined || allowed_values.includes(value);
}

/** Filters on facts leave out what nothing is known of: nobody can say that it passes. */
const hasFacts = (property: MeasuredProperty | undefined, filters: PropertyFilters): boolean => {
  const { countries_all, channels_any, property_types } = filters;
  return (
    (countries_all === undefined || countries_all.every((country) => property?.countries.includes(country))) &&
    (channels_any === undefined || channels_any.some((channel) => property?.channels.includes(channel))) &&
    (property_types === undefined || (property !== undefined && property_types.includes(property.property_type)))
  );
};

/** Requirements that nobody has measured the property by; undefined where it does not meet one that somebody has. */
function unmeasured(
  property: MeasuredProperty | undefined,
  { feature_requirements = [] }: PropertyFilters,
): readonly string[] | undefined {
  const missing: string[] = [];
  for (const requirement of feature_requirements) {
    const met = meets(property, requirement);
    if (met === false || (met === undefined && requirement.if_not_covered !== "include")) return undefined;
    if (met === undefined) missing.push(requirement.feature_id);
  }
  return missing;
}

export async function resolveProperties(call: BehaviourCall, list: KeptList): Promise<ResolvedProperties> {
  const known = await knownProperties(call);
  const index = await propertiesByIdentity(call);
  const filters = (list.filters ?? {}) as PropertyFilters;
  const excluded = new Set((filters.exclude_identifiers ?? []).map(identity));
  const candidates = new Map(
    drawn(known, list.base as readonly Source[] | undefined).map((identifier) => [identity(identifier), identifier]),
  );
  const gaps: { [feature: string]: PropertyIdentifier[] } = {};
  const identifiers: PropertyIdentifier[] = [];
  for (const [key, identifier] of candidates) {
    const property = index.get(key);
    if (excluded.has(key) || !hasFacts(property, filters)) continue;
    const missing = unmeasured(property, filters);
    if (missing === undefined) continue;
    identifiers.push(identifier);
    for (const feature of missing) {
      gaps[feature] ??= [];
      gaps[feature].push(identifier);
    }
  }
  return { identifiers, gaps };
}

export const propertyLists: Family = {
  noun: "property",
  baseField: "base_properties",
  countField: "property_count",
  members: async (call, list) => (await resolveProperties(call, list)).identifiers.map(identity),
};
