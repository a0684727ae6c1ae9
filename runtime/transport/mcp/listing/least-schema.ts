/** The least that a schema allows: one of each alternatives taken, conditions that come to hold applied. */
import type { JsonObject } from "../../../contract/index.js";
import { holds } from "./holds.js";
import { type Alternatives, type MergedSchema, mergeSchemas } from "./merge-schemas.js";
import type { PlaceReader, SchemaPlace } from "./schema-place.js";

/** A schema that says one thing only. */
export interface LeastSchema {
  readonly flat: MergedSchema;
  /** Of what is required. */
  readonly members: ReadonlyMap<string, LeastSchema>;
  readonly item: LeastSchema | undefined;
  /** A value as small as may be; its texts are no more than texts. */
  readonly least: unknown;
  /** What might have been taken in the place of what was: what each of them demands. */
  readonly others: readonly string[][];
}

/** Characters of a least value. */
const MUCH_MORE = 120;

/** Levels of what is demanded; deeper, anything will do. */
const DEEPEST = 12;

interface Taken {
  readonly alternatives: ReadonlySet<unknown>;
  readonly conditions: ReadonlySet<unknown>;
}

const nothing: Taken = { alternatives: new Set(), conditions: new Set() };

export function leastSchema(reader: PlaceReader, sites: readonly SchemaPlace[], depth = 0): LeastSchema | undefined {
  return leastWith(reader, sites, nothing, depth);
}

function leastWith(
  reader: PlaceReader,
  sites: readonly SchemaPlace[],
  taken: Taken,
  depth: number,
): LeastSchema | undefined {
  const flat = mergeSchemas(reader, sites);
  if (flat.values?.length === 0 || flat.types?.length === 0 || sites.some(({ node }) => node === false))
    return undefined;
  const open = [...flat.alternatives].find(([key]) => !taken.alternatives.has(key));
  if (open !== undefined) {
    const [key, alternatives] = open;
    const next = { ...taken, alternatives: new Set([...taken.alternatives, key]) };
    return takeOne(reader, { sites, alternatives, next, depth, required: flat.required });
  }
  for (const [name, more] of flat.together) if (flat.required.has(name)) for (const one of more) flat.required.add(one);
  const made = leastOf(reader, flat, depth);
  if (made === undefined) return undefined;
  for (const [key, { test, applied, otherwise }] of flat.conditions) {
    const branch = holds(reader, test, made.least) ? applied : otherwise;
    if (taken.conditions.has(key) || branch === undefined) continue;
    return leastWith(reader, [...sites, branch], { ...taken, conditions: new Set([...taken.conditions, key]) }, depth);
  }
  if (flat.excluded.some((site) => holds(reader, site, made.least))) return undefined;
  return { flat, others: [], ...made };
}

interface Choice {
  readonly sites: readonly SchemaPlace[];
  readonly alternatives: Alternatives;
  readonly next: Taken;
  readonly depth: number;
  readonly required: ReadonlySet<string>;
}

/** The alternative that comes to the least; what the others demand is told beside it. */
function takeOne(reader: PlaceReader, { sites, alternatives, next, depth, required }: Choice): LeastSchema | undefined {
  const found = alternatives.map((one) => leastWith(reader, [...sites, one], next, depth));
  const possible = found.filter((one) => one !== undefined);
  const [smallest] = [...possible].sort((a, b) => sizeOf(a) - sizeOf(b));
  if (smallest === undefined) return undefined;
  // The first is what is usual; one that asks for much more is not what a model is shown.
  const best = possible.find((one) => sizeOf(one) <= sizeOf(smallest) + MUCH_MORE)!;
  const others = possible
    .filter((one) => one !== best)
    .map((one) => [...one.flat.required].filter((name) => !required.has(name)));
  const told = others.filter((names) => names.length > 0 && names.join() !== [...best.flat.required].join());
  return { ...best, others: [...best.others, ...told] };
}

const sizeOf = ({ least }: LeastSchema): number => (JSON.stringify(least) ?? "").length;

function leastOf(
  reader: PlaceReader,
  flat: MergedSchema,
  depth: number,
): Pick<LeastSchema, "members" | "item" | "least"> | undefined {
  const members = new Map<string, LeastSchema>();
  const type = typeNameOf(flat);
  if (depth >= DEEPEST) return { members, item: undefined, least: plainLeast(flat, type) };
  if (type === "object") {
    const least: JsonObject = {};
    // Some object, whichever its members: the first will do.
    for (const name of flat.properties.keys()) if (flat.required.size < fewest(flat)) flat.required.add(name);
    for (const name of flat.required) {
      const inner = leastSchema(reader, flat.properties.get(name) ?? [], depth + 1);
      if (inner === undefined) return undefined;
      members.set(name, inner);
      least[name] = inner.least;
    }
    return { members, item: undefined, least };
  }
  if (type !== "array") return { members, item: undefined, least: plainLeast(flat, type) };
  const item = leastSchema(reader, flat.items, depth + 1);
  const count = Number(flat.bounds.minItems ?? 0);
  if (count > 0 && item === undefined) return undefined;
  return { members, item, least: flat.values?.[0] ?? Array.from({ length: Math.min(count, 9) }, () => item!.least) };
}

const fewest = ({ bounds }: MergedSchema): number => Number(bounds.minProperties ?? 0);

function plainLeast(flat: MergedSchema, type: string): unknown {
  if (flat.values !== undefined) return flat.values[0];
  const { minimum, exclusiveMinimum } = flat.bounds;
  switch (type) {
    case "number":
    case "integer":
      return typeof minimum === "number" ? minimum : typeof exclusiveMinimum === "number" ? exclusiveMinimum + 1 : 0;
    case "boolean":
      return false;
    case "null":
      return null;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return "x";
  }
}

/** The type a least value has; told by what else is said where no type is. */
export function typeNameOf({ types, values, properties, required, items, bounds }: MergedSchema): string {
  if (types !== undefined) return types[0]!;
  const [value] = values ?? [];
  if (typeof value === "number" || typeof value === "boolean") return typeof value;
  if (properties.size > 0 || required.size > 0 || bounds.minProperties !== undefined) return "object";
  if (items.length > 0 || bounds.minItems !== undefined) return "array";
  if (bounds.minimum !== undefined || bounds.maximum !== undefined) return "number";
  return "string";
}
