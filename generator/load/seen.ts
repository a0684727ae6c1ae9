/** What a schema of a later draft has looked at in a value by the time the value's rest is asked for. */
import { pointer } from "../finding.js";
import { isMap, type JsonMap, type Schema } from "./walk.js";

/** The schema a rewritten reference leads to. */
export type RefTarget = (ref: string) => Schema | undefined;

export interface Seen {
  names: Set<string>;
  patterns: Set<string>;
  everyName: boolean;
  /** Names that nothing declares are taken, not merely refused. */
  takesNames: boolean;
  /** Places of a list, from the first. */
  places: number;
  everyPlace: boolean;
  /** What else is seen where an alternative holds, and what says that it does. */
  perhaps: { seen: Seen; when: Schema }[];
  /** References made for what says so: they lead to where schemas stood before any was moved. */
  references: { $ref: string }[];
}

export const nothingSeen = (): Seen => ({
  names: new Set(),
  patterns: new Set(),
  everyName: false,
  takesNames: false,
  places: 0,
  everyPlace: false,
  perhaps: [],
  references: [],
});

const keysOf = (value: unknown): string[] => (isMap(value) ? Object.keys(value) : []);
export const schemasOf = (value: unknown): Schema[] => (Array.isArray(value) ? (value as Schema[]) : []);

/** 2019-09 has the places of a list in `items`, 2020-12 in `prefixItems`. */
export const tuplePlaces = ({ prefixItems, items }: JsonMap): Schema[] => schemasOf(prefixItems ?? items);
const restOf = ({ prefixItems, items, additionalItems }: JsonMap) =>
  prefixItems === undefined && Array.isArray(items) ? additionalItems : items;

/** A schema and where it stands; of the one whose rest is asked for, its own word for the rest sees nothing yet. */
interface Looked {
  readonly schema: Schema | undefined;
  readonly ref: string;
  readonly own?: boolean;
}

export function look(looked: Looked, into: Seen, target: RefTarget, passed: Set<Schema>): void {
  const { schema, ref, own = false } = looked;
  if (!isMap(schema) || passed.has(schema)) return;
  passed.add(schema);
  const rests = [schema.additionalProperties, own ? undefined : schema.unevaluatedProperties];
  for (const name of keysOf(schema.properties)) into.names.add(name);
  for (const pattern of keysOf(schema.patternProperties)) into.patterns.add(pattern);
  into.everyName ||= rests.some((rest) => rest !== undefined);
  into.takesNames ||= rests.some((rest) => rest !== undefined && rest !== false);
  into.places = Math.max(into.places, tuplePlaces(schema).length);
  into.everyPlace ||= restOf(schema) !== undefined || (!own && schema.unevaluatedItems !== undefined);
  // Which elements it finds is the value's affair.
  if (schema.contains !== undefined) into.perhaps.push({ seen: { ...nothingSeen(), everyPlace: true }, when: true });
  if (typeof schema.$ref === "string") look({ schema: target(schema.$ref), ref: schema.$ref }, into, target, passed);
  for (const [index, part] of schemasOf(schema.allOf).entries())
    look({ schema: part, ref: ref + pointer("allOf", index) }, into, target, passed);
  for (const { schema: one, ref: at, when } of alternatives(schema, ref, into.references)) {
    const seen = { ...nothingSeen(), references: into.references };
    look({ schema: one, ref: at }, seen, target, new Set(passed));
    into.perhaps.push({ seen, when });
  }
}

interface Alternative {
  readonly schema: Schema;
  readonly ref: string;
  readonly when: Schema;
}

/** Schemas inside that need not hold, each with what says that it does where the whole holds. */
function alternatives(schema: JsonMap, ref: string, references: { $ref: string }[]): Alternative[] {
  const at = (...keys: (string | number)[]): string => (ref.includes("#") ? ref : `${ref}#`) + pointer(...keys);
  const refer = (place: string): JsonMap => {
    const reference = { $ref: place };
    references.push(reference);
    return reference;
  };
  const found: Alternative[] = [];
  for (const keyword of ["anyOf", "oneOf"])
    for (const [index, one] of schemasOf(schema[keyword]).entries())
      found.push({ schema: one, ref: at(keyword, index), when: refer(at(keyword, index)) });
  for (const keyword of schema.if === undefined ? [] : ["if", "then", "else"]) {
    const held = schema[keyword] as Schema | undefined;
    const test = refer(at("if"));
    if (held !== undefined)
      found.push({ schema: held, ref: at(keyword), when: keyword === "else" ? { not: test } : test });
  }
  for (const keyword of ["dependentSchemas", "dependencies"])
    for (const name of keysOf(schema[keyword]))
      found.push({
        schema: (schema[keyword] as JsonMap)[name] as Schema,
        ref: at(keyword, name),
        when: { type: "object", required: [name] },
      });
  return found;
}

/** The names seen are the same whatever the value. */
export const namesAreFixed = (all: Seen, { names, patterns, everyName, perhaps }: Seen): boolean =>
  all.everyName ||
  (!everyName &&
    [...names].every((name) => all.names.has(name)) &&
    [...patterns].every((pattern) => all.patterns.has(pattern)) &&
    perhaps.every(({ seen }) => namesAreFixed(all, seen)));

export const placesAreFixed = (all: Seen, { places, everyPlace, perhaps }: Seen): boolean =>
  all.everyPlace || (!everyPlace && places <= all.places && perhaps.every(({ seen }) => placesAreFixed(all, seen)));

/**
 * Names that only alternatives look at, each with schemas of which one holds where it is looked at.
 * @returns undefined where alternatives look at names that cannot be counted up
 */
export function excuses(all: Seen): Map<string, Schema[]> | undefined {
  const found = new Map<string, Schema[]>();
  const always = [...all.patterns].map((pattern) => new RegExp(pattern, "u"));
  const isSeen = (name: string): boolean => all.names.has(name) || always.some((pattern) => pattern.test(name));
  const gather = ({ perhaps }: Seen, around: readonly Schema[]): boolean =>
    perhaps.every(({ seen, when }) => {
      if (seen.takesNames || [...seen.patterns].some((pattern) => !all.patterns.has(pattern))) return false;
      const whens = [...around, when];
      for (const name of [...seen.names].filter((one) => !isSeen(one)))
        found.set(name, [...(found.get(name) ?? []), whens.length === 1 ? when : { allOf: whens }]);
      return gather(seen, whens);
    });
  return gather(all, []) ? found : undefined;
}

/** What is seen of a list where something holds; undefined: that differs from element to element. */
const placesWhen = ({ perhaps }: Seen, around: readonly Schema[]): { places: number; when: Schema }[] | undefined => {
  const found: { places: number; when: Schema }[] = [];
  for (const { seen, when } of perhaps) {
    // `contains` sees some elements and not others.
    if (when === true) return undefined;
    const whens = [...around, when];
    const inner = placesWhen(seen, whens);
    if (inner === undefined) return undefined;
    const places = seen.everyPlace ? Number.POSITIVE_INFINITY : seen.places;
    found.push({ places, when: whens.length === 1 ? when : { allOf: whens } }, ...inner);
  }
  return found;
};

/**
 * Demands on a list whose rest is refused: it is no longer than what is seen of it, or an alternative holds that sees more.
 * @returns undefined where what is seen cannot be counted up
 */
export function lengthsSeen(all: Seen): Schema[] | undefined {
  const found = placesWhen(all, []);
  if (found === undefined) return undefined;
  const lengths = new Set([all.places, ...found.map(({ places }) => places)]);
  return [...lengths]
    .filter((length) => length >= all.places && Number.isFinite(length))
    .sort((a, b) => a - b)
    .map((length) => ({
      anyOf: [{ maxItems: length }, ...found.filter(({ places }) => places > length).map(({ when }) => when)],
    }));
}
