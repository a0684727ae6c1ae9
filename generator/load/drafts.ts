/**
 * Schemas of later drafts (2019-09 and on), said in draft-07, which is all that is read and judged behind the loader. What
 * draft-07 cannot say is a finding: passed over, it would let values through that the release refuses.
 */
import { type Finding, pointer } from "../finding.js";
import {
  excuses,
  lengthsSeen,
  look,
  namesAreFixed,
  nothingSeen,
  placesAreFixed,
  type RefTarget,
  type Seen,
  schemasOf,
  tuplePlaces,
} from "./seen.js";
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
    const fixed = takesAll(rest) || namesAreFixed(this.seen, this.seen);
    const excused = fixed || rest !== false ? undefined : excuses(this.seen);
    if (!fixed && excused === undefined)
      return void this.fault("unevaluatedProperties", "what is left over differs with the alternative that holds");
    delete schema.unevaluatedProperties;
    if (excused !== undefined) this.excuse(excused);
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

  /** A name that only alternatives look at is taken where one of these holds. */
  private excuse(excused: ReadonlyMap<string, Schema[]>): void {
    const { schema } = this.one;
    const wheres = [...excused].map(([name, anyOf]): [string, Schema] => [name, { anyOf }]);
    for (const [name] of wheres) this.seen.names.add(name);
    schema.allOf = [...schemasOf(schema.allOf), { dependencies: Object.fromEntries(wheres) }];
  }

  private restOfPlaces(): void {
    const { schema } = this.one;
    const { unevaluatedItems: rest } = schema;
    if (rest === undefined) return;
    const fixed = takesAll(rest) || placesAreFixed(this.seen, this.seen);
    const demands = fixed || rest !== false ? undefined : lengthsSeen(this.seen);
    if (!fixed && demands === undefined)
      return void this.fault("unevaluatedItems", "what is left over differs with the value");
    delete schema.unevaluatedItems;
    if (demands !== undefined) schema.allOf = [...schemasOf(schema.allOf), ...demands];
    if (this.seen.everyPlace || demands !== undefined) return;
    const { places } = this.seen;
    this.move("unevaluatedItems", places === 0 ? "items" : "additionalItems");
    const own = tuplePlaces(schema);
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
    if (further.length > 0) schema.allOf = [...schemasOf(schema.allOf), ...further];
  }

  /** Counts stay, though draft-07 has no words for them: every judge here counts. */
  private contains(): void {
    const { schema } = this.one;
    const { contains, minContains: min = 1, maxContains: max } = schema;
    if (min === 0 && max === undefined) delete schema.contains;
    if (contains === undefined || min === 1 || schema.contains === undefined) delete schema.minContains;
    if (contains === undefined) delete schema.maxContains;
  }
}

/**
 * Rewrites schemas in place; a keyword that draft-07 cannot say stays, with a finding.
 * @param target gives schemas as they are before
 * @returns what stands under another keyword now, by which references into it are to be mended
 */
export function toDraft07(schemas: readonly LaterSchema[], target: RefTarget): Moved {
  const moved: Moved = new Map();
  const references: { $ref: string }[] = [];
  const rewrites = schemas.map((one) => {
    const seen = nothingSeen();
    const { unevaluatedProperties, unevaluatedItems } = one.schema;
    // Only who asks for the rest has to know what was seen.
    if (unevaluatedProperties !== undefined || unevaluatedItems !== undefined)
      look({ schema: one.schema, ref: one.ref, own: true }, seen, target, new Set());
    references.push(...seen.references);
    return new Rewrite(one, seen, moved);
  });
  for (const rewrite of rewrites) rewrite.all();
  for (const reference of references) reference.$ref = movedRef(reference.$ref, moved);
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
