/**
 * Schema documents -> one synthetic root for the type compiler. The schema is fixed here, before it is compiled, so that
 * nothing has to patch the text after: each type has one name, annotations beside a `$ref` do not make a twin of what it
 * refers to, and keywords that only a validator understands do not leave `& {[k: string]: unknown}` behind.
 */
import { pointerToken } from "../../finding.js";
import { splitRef } from "../../load/closure.js";
import { atPointer, isMap, type JsonMap, mapSchema, type Schema, walk } from "../../load/walk.js";
import { firstSentence } from "../../model/build.js";
import type { DocumentModel } from "../../model/model.js";
import { pascalCase } from "../../model/names.js";
import {
  combiners,
  dropShapeless,
  keep,
  list,
  literalType,
  splitParts,
  typed,
  withoutHasOwn,
  withoutPatterns,
} from "./shape.js";

/** Where a declaration comes from, and the file it belongs to. */
export interface Origin {
  unit: string;
  /** `core/error.json` or `core/error.json#/$defs/issue` */
  source: string;
}

export interface Prepared {
  root: JsonMap;
  /** Name of the type for `<path>` or `<path>#<pointer>`. */
  nameOf: Map<string, string>;
  /** Every name that will be declared. */
  origins: Map<string, Origin>;
}

/** Name of the synthetic root; `takenNames` keeps it free. */
export const ROOT_NAME = "AdbindRoot";

class Preparation {
  private readonly byPath: Map<string, DocumentModel>;
  readonly nameOf = new Map<string, string>();
  readonly origins = new Map<string, Origin>();
  private readonly repeated: Set<string>;

  constructor(
    private readonly documents: readonly DocumentModel[],
    private readonly hoisted: ReadonlyMap<string, ReadonlySet<string>>,
    private readonly taken: ReadonlySet<string>,
  ) {
    this.byPath = new Map(documents.map((document) => [document.path, document]));
    this.repeated = repeatedTitles(documents);
  }

  run(): JsonMap {
    for (const { path, typeName, unit } of this.documents) this.declare(typeName, { unit, source: path }, path);
    for (const document of this.documents) this.nameHoisted(document);
    const definitions: JsonMap = {};
    for (const document of this.documents) {
      const places = ["", ...[...(this.hoisted.get(document.path) ?? [])].sort()];
      for (const at of places) {
        const name = this.nameOf.get(refOf(document.path, at))!;
        definitions[name] = this.define(document, at, name);
      }
    }
    const properties = Object.fromEntries(
      Object.keys(definitions).map((name) => [name, { $ref: `#/definitions/${name}` }]),
    );
    return { title: ROOT_NAME, type: "object", properties, additionalProperties: false, definitions };
  }

  private declare(name: string, origin: Origin, ref?: string): void {
    this.origins.set(name, origin);
    if (ref !== undefined) this.nameOf.set(ref, name);
  }

  private free(wanted: string): string {
    let name = wanted;
    for (let count = 2; this.origins.has(name) || this.taken.has(name); count++) name = `${wanted}${count}`;
    return name;
  }

  private nameHoisted({ path, typeName, unit, schema }: DocumentModel): void {
    for (const at of [...(this.hoisted.get(path) ?? [])].sort()) {
      const target = atPointer(schema as Schema, at);
      const title = isMap(target) && typeof target.title === "string" ? pascalCase(target.title) : "";
      const last = pascalCase(at.slice(at.lastIndexOf("/") + 1));
      const own =
        title !== "" && /^[A-Z]/.test(title) && !this.repeated.has(title) ? title : `${typeName}${title || last}`;
      this.declare(this.free(own), { unit, source: refOf(path, at) }, refOf(path, at));
    }
  }

  private define({ path, typeName, unit, schema }: DocumentModel, at: string, name: string): JsonMap {
    const source = atPointer(schema as Schema, at) as Schema;
    const hoisted = this.hoisted.get(path);
    const linked = this.link(source, (inner) =>
      inner !== "" && hoisted?.has(at + inner) ? this.nameOf.get(refOf(path, at + inner)) : undefined,
    );
    // The definition is called what the model calls it, so its own title must not claim a name.
    const unnamed = isMap(linked) ? keep(linked, (key) => key === "title") : linked;
    const shaped = mapSchema(unnamed, (inner) => this.shape(inner, { typeName, unit, source: refOf(path, at) }));
    const body = isMap(shaped) ? shaped : shaped ? {} : { tsType: "never" };
    // A title beside a bare `$ref` would make the compiler declare a copy of the target.
    return { ...(body.$ref === undefined ? body : { allOf: [{ $ref: body.$ref }] }), title: name };
  }

  /** References to `#/definitions/<name>`; annotations beside one go around it. */
  private link(schema: Schema, hoist: (pointer: string) => string | undefined): Schema {
    const visit = (node: Schema, at: string): Schema => {
      const name = hoist(at);
      if (name !== undefined) return { $ref: `#/definitions/${name}` };
      if (!isMap(node)) return node;
      const copy = withoutHasOwn(
        withoutPatterns(keep(node, (key) => !typed.has(key) || (key === "$ref" && typeof node.$ref !== "string"))),
      );
      for (const key of ["additionalItems", "additionalProperties", "items"])
        if (isMap(copy[key])) copy[key] = visit(copy[key], `${at}/${key}`);
      for (const key of [...combiners, "items"]) {
        if (Array.isArray(copy[key]))
          copy[key] = (copy[key] as Schema[]).map((one, index) => visit(one, `${at}/${key}/${index}`));
      }
      if (isMap(copy.properties)) {
        const entries = Object.entries(copy.properties).map(([name, one]): [string, Schema] => [
          name,
          visit(one as Schema, `${at}/properties/${pointerToken(name)}`),
        ]);
        copy.properties = Object.fromEntries(entries);
      }
      return typeof node.$ref === "string" ? this.reference(node.$ref, copy) : copy;
    };
    return visit(schema, "");
  }

  private reference(ref: string, beside: JsonMap): JsonMap {
    const target = { $ref: `#/definitions/${this.nameOf.get(ref.slice(1))}` };
    const rest = keep(beside, (key) => key === "$ref" || key === "title");
    return Object.keys(rest).length === 0
      ? target
      : { ...keep(rest, (key) => key === "allOf"), allOf: [target, ...list(rest, "allOf")] };
  }

  private shape(schema: JsonMap, origin: Origin & { typeName: string }): Schema {
    const literal = literalType(schema);
    if (literal !== undefined) return { ...keep(literal, (key) => key === "title"), ...this.sentence(schema) };
    const { description: _, title, ...rest } = schema;
    const trimmed = dropShapeless(rest);
    const closed = trimmed.additionalProperties === false ? this.close(trimmed) : trimmed;
    const parts = splitParts(closed);
    const name = typeof title === "string" ? this.titleOf(pascalCase(title), parts, origin) : undefined;
    return { ...parts, ...(name !== undefined && { title: name }), ...this.sentence(schema) };
  }

  private sentence({ description }: JsonMap): JsonMap {
    const sentence = typeof description === "string" ? firstSentence(description) : "";
    return sentence === "" ? {} : { description: sentence };
  }

  /** A titled part gets a declaration of its own when it is more than a scalar. */
  private titleOf(
    title: string,
    schema: JsonMap,
    { typeName, unit, source }: Origin & { typeName: string },
  ): string | undefined {
    const worth = ["properties", "oneOf", "anyOf", "allOf", "enum"].some((key) => schema[key] !== undefined);
    if (!worth || !/^[A-Z]/.test(title)) return undefined;
    const name = this.free(this.repeated.has(title) ? `${typeName}${title}` : title);
    this.declare(name, { unit, source });
    return name;
  }

  /** What a closed object's parts may add: nothing. Without this an open part would reopen the whole type. */
  private close(schema: JsonMap): JsonMap {
    const own = new Set(Object.keys(isMap(schema.properties) ? schema.properties : {}));
    const shut = (part: Schema): Schema => {
      if (!isMap(part)) return part;
      const inner: JsonMap = { ...part };
      for (const key of combiners) if (Array.isArray(inner[key])) inner[key] = list(inner, key).map(shut);
      if (isMap(inner.properties) && inner.additionalProperties === undefined) inner.additionalProperties = false;
      return inner;
    };
    const repeats = (part: Schema): boolean => {
      if (!isMap(part) || typeof part.$ref !== "string") return false;
      const declared = this.propertiesOf(part.$ref.slice("#/definitions/".length));
      return declared?.every((name) => own.has(name)) ?? false;
    };
    const result = { ...schema };
    for (const key of combiners) {
      const members = list(schema, key);
      if (members.length > 0)
        result[key] = (key === "allOf" ? members.filter((part) => !repeats(part)) : members).map(shut);
      if (key === "allOf" && members.length > 0 && (result[key] as Schema[]).length === 0) delete result[key];
    }
    return result;
  }

  private propertiesOf(name: string): string[] | undefined {
    const { path, pointer } = splitRef(`/${this.origins.get(name)?.source ?? ""}`);
    const schema = atPointer((this.byPath.get(path)?.schema ?? null) as Schema, pointer);
    return isMap(schema) && isMap(schema.properties) ? Object.keys(schema.properties) : undefined;
  }
}

const refOf = (path: string, at: string): string => (at === "" ? path : `${path}#${at}`);

/** Titles that stand in more than one place, and so cannot name a type alone. */
function repeatedTitles(documents: readonly DocumentModel[]): Set<string> {
  const seen = new Set<string>(documents.map(({ typeName }) => typeName));
  const repeated = new Set<string>();
  for (const { schema } of documents) {
    walk(schema as Schema, ({ title }, place) => {
      if (typeof title !== "string" || place === undefined) return;
      const name = pascalCase(title);
      if (seen.has(name)) repeated.add(name);
      seen.add(name);
    });
  }
  return repeated;
}

/** Places inside documents that something refers to, by document. */
function hoistedPlaces(documents: readonly DocumentModel[], extra: readonly string[]): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  const add = (ref: string): void => {
    const { path, pointer } = splitRef(ref);
    if (pointer === "") return;
    places.set(path, (places.get(path) ?? new Set()).add(pointer));
  };
  for (const { schema } of documents) walk(schema as Schema, ({ $ref }) => typeof $ref === "string" && add($ref));
  for (const ref of extra) add(`/${ref}`);
  return places;
}

/**
 * @param documents every schema the types need
 * @param places further places to name, `<path>#<pointer>`: the branches that are arms
 * @param taken names that types must leave alone
 */
export function prepareTypes(
  documents: readonly DocumentModel[],
  places: readonly string[],
  taken: ReadonlySet<string>,
): Prepared {
  const preparation = new Preparation(documents, hoistedPlaces(documents, places), taken);
  const root = preparation.run();
  return { root, nameOf: preparation.nameOf, origins: preparation.origins };
}
