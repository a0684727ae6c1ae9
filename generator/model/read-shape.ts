/**
 * Schema -> shape. The only place that knows how JSON Schema says things: lists of types, boolean schemas, what stands
 * beside a `$ref`, and keywords that wait for a value of their kind end here.
 */
import { pointerToken } from "../finding.js";
import { isMap, type Schema, type JsonMap as SchemaMap } from "../load/walk.js";
import { ownParts, speaksOfAll, type Types, typesOf } from "./read-own.js";
import type { Condition, Json, Shape, ShapeNotes } from "./shape.js";

/** Reads the documents of one release. */
export interface ReadContext {
  /** The schema a rewritten reference (`/<path>#<pointer>`) leads to. */
  target(ref: string): Schema | undefined;
  /** Told of every shape; the reader keeps no index of its own. */
  made(shape: Shape): void;
}

const inside = (pointer: string, ...keys: (string | number)[]): string =>
  keys.reduce<string>((at, key) => `${at}/${pointerToken(key)}`, pointer.includes("#") ? pointer : `${pointer}#`);

/** Longest chain of references followed when a kind is looked for; a longer one is a loop. */
const MAX_DEPTH = 64;

export class ShapeReader {
  constructor(private readonly context: ReadContext) {}

  /**
   * @param pointer `<path>` or `<path>#<JSON pointer>` of the schema
   * @param assumed kinds that an enclosing schema has demanded already
   */
  read(schema: Schema, pointer: string, assumed?: Types): Shape {
    const shape: Shape = isMap(schema)
      ? this.readMap(schema, pointer, assumed)
      : { kind: schema ? "any" : "never", pointer };
    this.context.made(shape);
    return shape;
  }

  private readMap(schema: SchemaMap, pointer: string, assumed: Types | undefined): Shape {
    const types = typesOf(schema) ?? assumed;
    const child = (inner: Schema, keys: (string | number)[], kinds?: Types): Shape =>
      this.read(inner, inside(pointer, ...keys), kinds);
    const others = this.others(schema, pointer, types, child);
    const own = ownParts(schema, pointer, { assumed, others: others.length > 0, child });
    // A kind alone adds nothing to parts that demand it themselves.
    const mute = own.typeOnly && others.length > 0 && this.demanded(schema, types!);
    const parts = mute ? others : [...own.parts, ...others];
    const notes = notesOf(schema, pointer);
    const conditions = this.conditions(schema, types, child);
    if (parts.length === 0) return withConditions({ kind: "any", ...notes }, conditions);
    if (parts.length > 1) return withConditions({ kind: "all", ...notes, parts }, conditions);
    // One part is the whole: what is said beside it is said of it.
    const [only] = parts as [Shape];
    return withConditions({ ...only, ...notes }, [...(only.conditions ?? []), ...conditions]);
  }

  private others(
    schema: SchemaMap,
    pointer: string,
    types: Types | undefined,
    child: (inner: Schema, keys: (string | number)[], kinds?: Types) => Shape,
  ): Shape[] {
    const parts: Shape[] = [];
    if (typeof schema.$ref === "string") parts.push({ kind: "reference", pointer, to: schema.$ref.slice(1) });
    if (Array.isArray(schema.allOf))
      parts.push(...schema.allOf.map((one, index) => child(one as Schema, ["allOf", index], types)));
    for (const [key, mode] of [
      ["oneOf", "one"],
      ["anyOf", "any"],
    ] as const) {
      const list = schema[key];
      if (!Array.isArray(list)) continue;
      const members = list.map((one, index) => child(one as Schema, [key, index], types));
      parts.push({ kind: "union", pointer, mode, members });
    }
    return parts;
  }

  /** What stands beside a schema's kind demands the kind too, so that it need not be said twice. */
  private demanded({ type: _, ...beside }: SchemaMap, types: Types): boolean {
    return this.demands(beside, types, true, 0);
  }

  /** @param assumed the schema is read under these kinds, so that what it says of one is demanded */
  private demands(schema: Schema | undefined, types: Types, assumed: boolean, depth: number): boolean {
    if (!isMap(schema)) return schema === false;
    if (depth > MAX_DEPTH) return false;
    const own = typesOf(schema);
    if (own !== undefined && [...own].every((kind) => types.has(kind))) return true;
    const lists = schema.enum !== undefined || schema.const !== undefined;
    if (assumed && own === undefined && !lists && speaksOfAll(schema, types)) return true;
    if (typeof schema.$ref === "string" && this.demands(this.context.target(schema.$ref), types, false, depth + 1))
      return true;
    const each = (key: string): Schema[] => (Array.isArray(schema[key]) ? (schema[key] as Schema[]) : []);
    const inner = (one: Schema): boolean => this.demands(one, types, assumed, depth + 1);
    return (
      each("allOf").some(inner) || ["oneOf", "anyOf"].some((key) => each(key).length > 0 && each(key).every(inner))
    );
  }

  private conditions(
    schema: SchemaMap,
    types: Types | undefined,
    child: (inner: Schema, keys: (string | number)[], kinds?: Types) => Shape,
  ): Condition[] {
    const found: Condition[] = [];
    const has = (key: string): boolean => schema[key] !== undefined;
    if (has("if")) {
      found.push({
        kind: "if",
        test: child(schema.if as Schema, ["if"], types),
        ...(has("then") && { whenTrue: child(schema.then as Schema, ["then"], types) }),
        ...(has("else") && { whenFalse: child(schema.else as Schema, ["else"], types) }),
      });
    }
    if (has("not")) found.push({ kind: "not", shape: child(schema.not as Schema, ["not"], types) });
    if (has("contains")) {
      found.push({
        kind: "contains",
        shape: child(schema.contains as Schema, ["contains"]),
        ...(has("minContains") && { least: schema.minContains as number }),
        ...(has("maxContains") && { most: schema.maxContains as number }),
      });
    }
    if (has("propertyNames"))
      found.push({ kind: "names", shape: child(schema.propertyNames as Schema, ["propertyNames"], stringOnly) });
    for (const [property, demand] of Object.entries(isMap(schema.dependencies) ? schema.dependencies : {})) {
      if (Array.isArray(demand)) found.push({ kind: "needs", property, properties: demand as string[] });
      else found.push({ kind: "entails", property, shape: child(demand as Schema, ["dependencies", property], types) });
    }
    return found;
  }
}

const stringOnly: Types = new Set(["string"]);

const withConditions = (shape: Shape, conditions: Condition[]): Shape => {
  if (conditions.length > 0) shape.conditions = conditions;
  return shape;
};

function notesOf(schema: SchemaMap, pointer: string): ShapeNotes {
  const notes: ShapeNotes = { pointer };
  if (typeof schema.title === "string") notes.title = schema.title;
  if (typeof schema.description === "string") notes.description = schema.description;
  if (schema.deprecated === true) notes.deprecated = true;
  if (schema.default !== undefined) notes.default = schema.default;
  if (Array.isArray(schema.examples)) notes.examples = schema.examples;
  for (const key in schema) {
    if (!key.startsWith("x-")) continue;
    notes.extensions ??= {};
    notes.extensions[key] = schema[key] as Json;
  }
  return notes;
}
