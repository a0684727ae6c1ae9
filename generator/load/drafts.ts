/**
 * Schemas of later drafts (2019-09 and on), said in draft-07, which is all that is read and judged behind the loader. What
 * draft-07 cannot say is a finding: passed over, it would let values through that the release refuses.
 */
import { type Finding, pointer } from "../finding.js";
import { isMap, type JsonMap, type Schema } from "./walk.js";

/** A file without a draft is taken for draft-07, as every published release was. */
export const isLaterDraft = ({ $schema }: JsonMap): boolean =>
  typeof $schema === "string" && !/^https?:\/\/json-schema\.org\/(draft-0\d\/)?schema#?$/.test($schema);

/** A schema of a later draft, and where it stands. */
export interface LaterSchema {
  readonly schema: JsonMap;
  /** `/<path>#<pointer>` */
  readonly ref: string;
  readonly file: { readonly path: string; readonly findings: Finding[] };
}

/** The schema a rewritten reference leads to. */
type Target = (ref: string) => Schema | undefined;

/** What a schema has looked at in a value by the time the value's rest is asked for. */
interface Seen {
  names: Set<string>;
  patterns: Set<string>;
  everyName: boolean;
  /** Places of a list, from the first. */
  places: number;
  everyPlace: boolean;
  /** What else is seen where an alternative holds. */
  perhaps: Seen[];
}

const nothing = (): Seen => ({
  names: new Set(),
  patterns: new Set(),
  everyName: false,
  places: 0,
  everyPlace: false,
  perhaps: [],
});

const keysOf = (value: unknown): string[] => (isMap(value) ? Object.keys(value) : []);
const listOf = (value: unknown): Schema[] => (Array.isArray(value) ? (value as Schema[]) : []);
const schemasIn = (value: unknown): Schema[] => (isMap(value) ? (Object.values(value) as Schema[]) : []);

/** 2019-09 has the places of a list in `items`, 2020-12 in `prefixItems`. */
const placesOf = ({ prefixItems, items }: JsonMap): Schema[] => listOf(prefixItems ?? items);
const restOf = ({ prefixItems, items, additionalItems }: JsonMap) =>
  prefixItems === undefined && Array.isArray(items) ? additionalItems : items;

/** @param own the schema whose rest is asked for: its own word for the rest sees nothing yet */
function look(schema: Schema | undefined, own: boolean, into: Seen, target: Target, passed: Set<Schema>): void {
  if (!isMap(schema) || passed.has(schema)) return;
  passed.add(schema);
  for (const name of keysOf(schema.properties)) into.names.add(name);
  for (const pattern of keysOf(schema.patternProperties)) into.patterns.add(pattern);
  into.everyName ||= schema.additionalProperties !== undefined || (!own && schema.unevaluatedProperties !== undefined);
  into.places = Math.max(into.places, placesOf(schema).length);
  into.everyPlace ||= restOf(schema) !== undefined || (!own && schema.unevaluatedItems !== undefined);
  // Which elements it finds is the value's affair.
  if (schema.contains !== undefined) into.perhaps.push({ ...nothing(), everyPlace: true });
  if (typeof schema.$ref === "string") look(target(schema.$ref), false, into, target, passed);
  for (const part of listOf(schema.allOf)) look(part, false, into, target, passed);
  const alternatives = [
    ...[...listOf(schema.anyOf), ...listOf(schema.oneOf)],
    ...[schema.if, schema.then, schema.else].filter((one) => one !== undefined),
    ...[...schemasIn(schema.dependentSchemas), ...schemasIn(schema.dependencies)],
  ] as Schema[];
  for (const one of alternatives) {
    const perhaps = nothing();
    look(one, false, perhaps, target, new Set(passed));
    into.perhaps.push(perhaps);
  }
}

/** The names seen are the same whatever the value. */
const namesAreFixed = (all: Seen, { names, patterns, everyName, perhaps }: Seen): boolean =>
  all.everyName ||
  (!everyName &&
    [...names].every((name) => all.names.has(name)) &&
    [...patterns].every((pattern) => all.patterns.has(pattern)) &&
    perhaps.every((one) => namesAreFixed(all, one)));

const placesAreFixed = (all: Seen, { places, everyPlace, perhaps }: Seen): boolean =>
  all.everyPlace || (!everyPlace && places <= all.places && perhaps.every((one) => placesAreFixed(all, one)));

const takesAll = (rest: unknown): boolean => rest === true || (isMap(rest) && Object.keys(rest).length === 0);

/** What was moved: `/<path>#<pointer>` as it was, and the keyword it is under now. */
type Moved = Map<string, string>;

class Rewrite {
  constructor(
    private readonly one: LaterSchema,
    private readonly seen: Seen,
    private readonly moved: Moved,
  ) {}

  /** In an order that lets each find what it asks for as the one before left it. */
  all(): void {
    this.restOfNames();
    this.restOfPlaces();
    this.places();
    this.dependencies();
    this.contains();
    for (const keyword of ["$dynamicRef", "$recursiveRef"])
      if (this.one.schema[keyword] !== undefined) this.fault(keyword, "what it leads to differs with who asks");
  }

  private fault(keyword: string, why: string): void {
    const { ref, file } = this.one;
    file.findings.push({
      level: "error",
      rule: "schema-draft",
      file: file.path,
      pointer: ref.slice(ref.indexOf("#") + 1) + pointer(keyword),
      message: `${keyword} cannot be said in draft-07, by which values are judged: ${why}`,
      remedy: "Say it without the keyword, or generate a part of the release that does without the schema.",
    });
  }

  private move(from: string, to: string): void {
    this.moved.set(this.one.ref + pointer(from), to);
  }

  private restOfNames(): void {
    const { schema } = this.one;
    const { unevaluatedProperties: rest, ...others } = schema;
    if (rest === undefined) return;
    if (!takesAll(rest) && !namesAreFixed(this.seen, this.seen))
      return void this.fault("unevaluatedProperties", "what is left over differs with the alternative that holds");
    delete schema.unevaluatedProperties;
    if (this.seen.everyName) return;
    this.move("unevaluatedProperties", "additionalProperties");
    schema.additionalProperties = rest;
    for (const [keyword, names] of [
      ["properties", this.seen.names],
      ["patternProperties", this.seen.patterns],
    ] as const) {
      if (names.size === 0) continue;
      const known = Object.fromEntries([...names].sort().map((name) => [name, true]));
      schema[keyword] = { ...known, ...(others[keyword] as JsonMap | undefined) };
    }
  }

  private restOfPlaces(): void {
    const { schema } = this.one;
    const { unevaluatedItems: rest } = schema;
    if (rest === undefined) return;
    if (!takesAll(rest) && !placesAreFixed(this.seen, this.seen))
      return void this.fault("unevaluatedItems", "what is left over differs with the value");
    delete schema.unevaluatedItems;
    if (this.seen.everyPlace) return;
    const { places } = this.seen;
    this.move("unevaluatedItems", places === 0 ? "items" : "additionalItems");
    const own = placesOf(schema);
    if (places > 0) schema.prefixItems = [...own, ...Array.from({ length: places - own.length }, () => true)];
    schema.items = rest;
  }

  private places(): void {
    const { schema } = this.one;
    const { prefixItems, items } = schema;
    if (!Array.isArray(prefixItems)) return;
    delete schema.prefixItems;
    delete schema.additionalItems;
    this.move("prefixItems", "items");
    schema.items = prefixItems;
    if (items === undefined) return;
    this.move("items", "additionalItems");
    schema.additionalItems = items;
  }

  private dependencies(): void {
    const { schema } = this.one;
    const held: JsonMap = {};
    const further: JsonMap[] = [];
    for (const keyword of ["dependentSchemas", "dependentRequired", "dependencies"]) {
      for (const [name, demand] of Object.entries(isMap(schema[keyword]) ? schema[keyword] : {})) {
        if (Object.hasOwn(held, name)) further.push({ dependencies: { [name]: demand } });
        else Object.defineProperty(held, name, { value: demand, enumerable: true, configurable: true, writable: true });
      }
      delete schema[keyword];
    }
    this.move("dependentSchemas", "dependencies");
    if (Object.keys(held).length > 0) schema.dependencies = held;
    if (further.length > 0) schema.allOf = [...listOf(schema.allOf), ...further];
  }

  private contains(): void {
    const { schema } = this.one;
    const { contains, minContains: min = 1, maxContains: max } = schema;
    if (contains !== undefined && max !== undefined)
      return void this.fault("maxContains", "draft-07 asks for one element at least");
    if (contains !== undefined && min !== 0 && min !== 1)
      return void this.fault("minContains", "draft-07 asks for one element at least");
    delete schema.minContains;
    delete schema.maxContains;
    if (min === 0) delete schema.contains;
  }
}

/**
 * Rewrites schemas in place; a keyword that draft-07 cannot say stays, with a finding.
 * @param target gives schemas as they are before
 * @returns what stands under another keyword now, by which references into it are to be mended
 */
export function toDraft07(schemas: readonly LaterSchema[], target: Target): Moved {
  const moved: Moved = new Map();
  const rewrites = schemas.map((one) => {
    const seen = nothing();
    const { unevaluatedProperties, unevaluatedItems } = one.schema;
    // Only who asks for the rest has to know what was seen.
    if (unevaluatedProperties !== undefined || unevaluatedItems !== undefined)
      look(one.schema, true, seen, target, new Set());
    return new Rewrite(one, seen, moved);
  });
  for (const rewrite of rewrites) rewrite.all();
  return moved;
}

/** A reference into what was moved, as it leads there now. */
export function movedRef(ref: string, moved: Moved): string {
  const [path, ...tokens] = ref.split(/(?=\/)(?<=#.*)/);
  let before = path!;
  let after = path!;
  for (const token of tokens) {
    before += token;
    const now = moved.get(before);
    after += now === undefined ? token : pointer(now);
  }
  return after;
}
