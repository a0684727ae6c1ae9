/** Shapes of one place -> one table of what they demand together, so that no spelling is left to compare. */
import type { Condition, Json, Openness, Shape, UnionShape } from "../model/shape.js";
import { leavesOf, type ShapePart } from "./part.js";

export const kinds = ["object", "array", "string", "integer", "number", "boolean", "null"] as const;
export type ValueKind = (typeof kinds)[number];

/** Bounds by their keyword; of several the stricter holds. */
export const lower = ["minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties"] as const;
const upper = ["maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties"] as const;
export type Bound = (typeof lower)[number] | (typeof upper)[number];

export interface FlatProperty {
  required: boolean;
  declared: boolean;
  deprecated: boolean;
  readonly parts: ShapePart[];
}

/** A part that closes an object, or says what names hold that it does not list. */
interface Rest {
  readonly names: ReadonlySet<string>;
  readonly patterns: readonly string[];
  /** Undefined where it closes. */
  readonly part: ShapePart | undefined;
}

export interface Flat {
  never: boolean;
  /** Undefined where any kind may be. */
  kinds: Set<ValueKind> | undefined;
  values: Json[] | undefined;
  readonly bounds: Map<Bound, number>;
  readonly patterns: Set<string>;
  readonly formats: Set<string>;
  readonly multiples: Set<number>;
  unique: boolean;
  readonly properties: Map<string, FlatProperty>;
  readonly named: Map<string, ShapePart[]>;
  readonly rests: Rest[];
  readonly items: ShapePart[];
  readonly tuples: { items: ShapePart[]; rest: ShapePart }[];
  readonly unions: { union: UnionShape; of: ShapePart["of"] }[];
  readonly conditions: { condition: Condition; of: ShapePart["of"] }[];
}

const blank = (): Flat => ({
  never: false,
  kinds: undefined,
  values: undefined,
  bounds: new Map(),
  patterns: new Set(),
  formats: new Set(),
  multiples: new Set(),
  unique: false,
  properties: new Map(),
  named: new Map(),
  rests: [],
  items: [],
  tuples: [],
  unions: [],
  conditions: [],
});

/** Whether a value of the kind is of one of the kinds. */
export const coversKind = (among: ReadonlySet<ValueKind> | undefined, kind: ValueKind): boolean =>
  among === undefined || among.has(kind) || (kind === "integer" && among.has("number"));

function demandKinds(flat: Flat, wanted: readonly ValueKind[]): void {
  const now = flat.kinds;
  const next = new Set(wanted);
  if (now === undefined) flat.kinds = next;
  else
    flat.kinds = new Set([
      ...[...now].filter((kind) => coversKind(next, kind)),
      ...wanted.filter((one) => coversKind(now, one)),
    ]);
}

export const valueKindOf = (value: Json): ValueKind => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value as ValueKind;
};

export const same = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b);

function demandValues(flat: Flat, values: readonly Json[]): void {
  flat.values =
    flat.values === undefined ? [...values] : flat.values.filter((one) => values.some((two) => same(one, two)));
}

function demandBounds(flat: Flat, shape: Partial<Record<Bound, number>>): void {
  for (const bound of [...lower, ...upper]) {
    const value = shape[bound];
    if (value === undefined) continue;
    const known = flat.bounds.get(bound);
    const stricter = (lower as readonly string[]).includes(bound) ? Math.max : Math.min;
    flat.bounds.set(bound, known === undefined ? value : stricter(known, value));
  }
}

function addOpenness(
  flat: Flat,
  shape: Openness & { properties?: readonly { name: string; declared: boolean }[] },
  of: ShapePart["of"],
): void {
  for (const { pattern, shape: inner } of shape.patterns ?? [])
    flat.named.set(pattern, [...(flat.named.get(pattern) ?? []), { shape: inner, of }]);
  if (shape.openness === "open" && shape.rest === undefined) return;
  flat.rests.push({
    names: new Set((shape.properties ?? []).filter(({ declared }) => declared).map(({ name }) => name)),
    patterns: (shape.patterns ?? []).map(({ pattern }) => pattern),
    part: shape.openness === "closed" ? undefined : { shape: shape.rest!, of },
  });
}

function demand(flat: Flat, { lenient }: Shape, wanted: readonly ValueKind[]): void {
  if (!lenient) demandKinds(flat, wanted);
}

function addLeaf(flat: Flat, { shape, of }: ShapePart): void {
  for (const condition of shape.conditions ?? []) flat.conditions.push({ condition, of });
  switch (shape.kind) {
    case "never":
      flat.never = true;
      return;
    case "scalar":
      demand(flat, shape, shape.types);
      demandBounds(flat, shape);
      if (shape.pattern !== undefined) flat.patterns.add(shape.pattern);
      if (shape.format !== undefined) flat.formats.add(shape.format);
      if (shape.multipleOf !== undefined) flat.multiples.add(shape.multipleOf);
      return;
    case "enum":
      demandValues(flat, shape.values);
      return;
    case "const":
      demandValues(flat, [shape.value]);
      return;
    case "object":
      for (const { name, required, declared, shape: inner } of shape.properties)
        addProperty(flat, { name, required, declared, inner, of });
      demand(flat, shape, ["object"]);
      demandBounds(flat, shape);
      addOpenness(flat, shape, of);
      return;
    case "map":
      demand(flat, shape, ["object"]);
      demandBounds(flat, shape);
      addOpenness(flat, shape, of);
      return;
    case "array":
      demand(flat, shape, ["array"]);
      demandBounds(flat, shape);
      flat.unique ||= shape.unique === true;
      if (shape.items.kind !== "any" || shape.items.conditions !== undefined)
        flat.items.push({ shape: shape.items, of });
      return;
    case "tuple":
      demand(flat, shape, ["array"]);
      demandBounds(flat, shape);
      flat.unique ||= shape.unique === true;
      flat.tuples.push({ items: shape.items.map((inner) => ({ shape: inner, of })), rest: { shape: shape.rest, of } });
      return;
    case "union":
      flat.unions.push({ union: shape, of });
      return;
    case "any":
    case "all":
    case "reference":
      return;
  }
}

interface Declared {
  readonly name: string;
  readonly required: boolean;
  readonly declared: boolean;
  readonly inner: Shape;
  readonly of: ShapePart["of"];
}

function addProperty(flat: Flat, { name, required, declared, inner, of }: Declared): void {
  const known = flat.properties.get(name);
  const deprecated = inner.deprecated === true;
  if (known === undefined) {
    flat.properties.set(name, { required, declared, deprecated, parts: [{ shape: inner, of }] });
    return;
  }
  known.required ||= required;
  known.deprecated ||= deprecated;
  if (!declared) return;
  // What only demands the name says nothing of what it holds.
  if (!known.declared) known.parts.length = 0;
  known.declared = true;
  known.parts.push({ shape: inner, of });
}

/** Alternatives of one are none. */
function unfold(parts: readonly ShapePart[]): ShapePart[] {
  const leaves = leavesOf(parts);
  return leaves.flatMap((leaf) => {
    const { shape, of } = leaf;
    if (shape.kind !== "union" || shape.members.length !== 1) return [leaf];
    return [{ shape: { ...shape, members: [] }, of } as ShapePart, ...unfold([{ shape: shape.members[0]!, of }])];
  });
}

const ofShape = new WeakMap<Shape, Flat>();
const ofParts = new WeakMap<readonly ShapePart[], Flat>();

/** The table of a place; made once for a shape, which is of one release, and for a list of parts that is kept. */
export function flatten(parts: readonly ShapePart[]): Flat {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    const known = ofShape.get(only.shape);
    if (known !== undefined) return known;
    const flat = made(parts);
    ofShape.set(only.shape, flat);
    return flat;
  }
  const known = ofParts.get(parts);
  if (known !== undefined) return known;
  const flat = made(parts);
  ofParts.set(parts, flat);
  return flat;
}

function made(parts: readonly ShapePart[]): Flat {
  const flat = blank();
  for (const leaf of unfold(parts)) addLeaf(flat, leaf);
  const unions = flat.unions.filter(({ union }) => union.members.length > 0);
  flat.unions.length = 0;
  flat.unions.push(...unions);
  const { kinds: wanted, values } = flat;
  if (values === undefined) return flat;
  const left = values.filter(
    (value) => (wanted === undefined || coversKind(wanted, valueKindOf(value))) && isWithin(flat, value),
  );
  flat.values = left;
  // Values say of which kinds they are, and how long and how large.
  flat.kinds = new Set(left.map(valueKindOf));
  for (const bound of scalarBounds) flat.bounds.delete(bound);
  flat.patterns.clear();
  flat.multiples.clear();
  return flat;
}

const scalarBounds = [...lower, ...upper].filter((bound) => /(Length|imum)$/.test(bound));

/** A text or a number is as its bounds, patterns and steps ask. */
function isWithin({ bounds, patterns, multiples }: Flat, value: Json): boolean {
  const least = (bound: Bound): number => bounds.get(bound) ?? Number.NEGATIVE_INFINITY;
  const most = (bound: Bound): number => bounds.get(bound) ?? Number.POSITIVE_INFINITY;
  if (typeof value === "string") {
    const { length } = [...value];
    const isLong = length >= least("minLength") && length <= most("maxLength");
    return isLong && [...patterns].every((pattern) => new RegExp(pattern, "u").test(value));
  }
  if (typeof value !== "number") return true;
  const isInside = value >= least("minimum") && value <= most("maximum");
  const isBetween = value > least("exclusiveMinimum") && value < most("exclusiveMaximum");
  return isInside && isBetween && [...multiples].every((step) => Number.isInteger(value / step));
}

/** Nothing is demanded of a value. */
export function takesAnything(flat: Flat): boolean {
  const { never, kinds: wanted, values, unique, ...demands } = flat;
  const held = Object.values(demands).map((one) => ("size" in one ? one.size : one.length));
  return !never && wanted === undefined && values === undefined && !unique && held.every((size) => size === 0);
}

/** Whether an object may have a name that it does not declare; the parts it must keep if so. */
export function restOf(flat: Flat, name: string): { closed: boolean; parts: ShapePart[] } {
  const matching = [...flat.named].filter(([pattern]) => new RegExp(pattern, "u").test(name));
  const rests = flat.rests.filter(
    ({ names, patterns }) => !names.has(name) && !patterns.some((pattern) => new RegExp(pattern, "u").test(name)),
  );
  return {
    closed: rests.some(({ part }) => part === undefined),
    parts: [...matching.flatMap(([, parts]) => parts), ...rests.flatMap(({ part }) => part ?? [])],
  };
}
