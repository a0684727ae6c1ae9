/** Which properties a list comes to: its sources, less what its filters leave out. */
import type { Call } from "../../handler.js";
import type { Family, KeptList } from "../lists/lists.js";
import { type Identifier, identity, type Property, properties, propertyOf } from "./catalog.js";

interface Source {
  readonly selection_type: string;
  readonly identifiers?: readonly Identifier[];
  readonly publisher_domain?: string;
  readonly tags?: readonly string[];
  readonly property_ids?: readonly string[];
}

export interface Requirement {
  readonly feature_id: string;
  readonly min_value?: number;
  readonly max_value?: number;
  readonly allowed_values?: readonly unknown[];
  readonly if_not_covered?: "exclude" | "include";
  readonly policy_id?: string;
}

export interface Filters {
  readonly countries_all?: readonly string[];
  readonly channels_any?: readonly string[];
  readonly property_types?: readonly string[];
  readonly feature_requirements?: readonly Requirement[];
  readonly exclude_identifiers?: readonly Identifier[];
}

export interface Resolved {
  readonly identifiers: readonly Identifier[];
  /** Identifiers that are in although a feature of theirs is not measured, by feature. */
  readonly gaps: { readonly [feature: string]: readonly Identifier[] };
}

function drawn(known: readonly Property[], base: readonly Source[] | undefined): Identifier[] {
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
export function meets(property: Property | undefined, requirement: Requirement): boolean | undefined {
  const { feature_id, min_value, max_value, allowed_values } = requirement;
  if (property === undefined || !Object.hasOwn(property.features, feature_id)) return undefined;
  const value = property.features[feature_id];
  if (min_value !== undefined && !(typeof value === "number" && value >= min_value)) return false;
  if (max_value !== undefined && !(typeof value === "number" && value <= max_value)) return false;
  return allowed_values === undefined || allowed_values.includes(value);
}

/** Filters on facts leave out what nothing is known of: nobody can say that it passes. */
const hasFacts = (property: Property | undefined, filters: Filters): boolean => {
  const { countries_all, channels_any, property_types } = filters;
  return (
    (countries_all === undefined || countries_all.every((country) => property?.countries.includes(country))) &&
    (channels_any === undefined || channels_any.some((channel) => property?.channels.includes(channel))) &&
    (property_types === undefined || (property !== undefined && property_types.includes(property.property_type)))
  );
};

export function resolveProperties(call: Call, list: KeptList): Resolved {
  const known = properties(call);
  const filters = (list.filters ?? {}) as Filters;
  const excluded = new Set((filters.exclude_identifiers ?? []).map(identity));
  const candidates = new Map(
    drawn(known, list.base as readonly Source[] | undefined).map((identifier) => [identity(identifier), identifier]),
  );
  const gaps: { [feature: string]: Identifier[] } = {};
  const kept = [...candidates].filter(([key, identifier]) => {
    const property = propertyOf(known, identifier);
    if (excluded.has(key) || !hasFacts(property, filters)) return false;
    const verdicts = (filters.feature_requirements ?? []).map((requirement) => ({
      requirement,
      met: meets(property, requirement) ?? (requirement.if_not_covered === "include" ? null : false),
    }));
    if (verdicts.some(({ met }) => met === false)) return false;
    for (const { requirement, met } of verdicts) {
      if (met !== null) continue;
      const missing = gaps[requirement.feature_id] ?? [];
      missing.push(identifier);
      gaps[requirement.feature_id] = missing;
    }
    return true;
  });
  return { identifiers: kept.map(([, identifier]) => identifier), gaps };
}

export const propertyLists: Family = {
  noun: "property",
  baseField: "base_properties",
  countField: "property_count",
  members: (call, list) => resolveProperties(call, list).identifiers.map(identity),
};
