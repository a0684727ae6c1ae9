/**
 * What a release's schemas say of answers, so that a behaviour can ask whether a field is there instead of which release it
 * answers in. `fit` leaves out of a value what the schema does not know: behaviours state all they have, and each release
 * gets its part.
 */
import {
  type CanonicalSlot,
  isJsonObject,
  type JsonObject,
  type Release,
  type SchemaRef,
  schemaUri,
} from "../../contract/index.js";

interface Place {
  readonly schema: JsonObject;
  readonly uri: string;
}

/** Every schema that may apply to one value. */
type View = readonly Place[];

export interface AnswerShape {
  /** Is there such a field? Its name, or names from the root on, `*` for every item. */
  has(...path: readonly string[]): boolean;
  /** Does an object at this path have to have a field of this name? The last name is the field's. */
  requires(...path: readonly string[]): boolean;
  /** Values a field is restricted to; undefined where any will do. */
  values(...path: readonly string[]): readonly unknown[] | undefined;
  /** May a field be null? */
  takesNull(...path: readonly string[]): boolean;
  /** How many items a list may have; undefined where any number. */
  most(...path: readonly string[]): number | undefined;
  /** The value without what the schema does not know. */
  fit<T extends object>(value: T): JsonObject;
}

export interface AnswerShapes {
  /** Of what a tool answers when it is done. */
  answer(tool: string): AnswerShape;
  request(tool: string): AnswerShape;
  /** Does the release know the tool? */
  offers(tool: string): boolean;
  /** What a canonical format is made of, by its kind; undefined where the release has no such format. */
  canonical(kind: string): readonly CanonicalSlot[] | undefined;
  /** Is this one of the release's error codes? */
  knowsError(code: string): boolean;
}

/** Schemas refer to each other in circles; real ones nest about ten deep. */
const MAX_DEPTH = 40;

const loaded = new WeakMap<Release, Promise<AnswerShapes>>();

/** The shapes of a release, read once. */
export function shapesOf(release: Release): Promise<AnswerShapes> {
  const known = loaded.get(release) ?? readShapes(release);
  loaded.set(release, known);
  return known;
}

async function readShapes(release: Release): Promise<AnswerShapes> {
  const documents = new Documents(await release.schemas());
  const { formats } = release.facts;
  const made = new Map<SchemaRef, AnswerShape>();
  const shapeAt = (ref: SchemaRef | null | undefined): AnswerShape => {
    const key = ref ?? "";
    const known = made.get(key) ?? shapeOf(documents, key === "" ? [] : documents.view(key));
    made.set(key, known);
    return known;
  };
  return {
    answer: (tool) => shapeAt((release.tools[tool]?.arms as { completed?: SchemaRef } | undefined)?.completed),
    request: (tool) => shapeAt(release.tools[tool]?.request),
    canonical: (kind) => (Object.hasOwn(formats, kind) ? formats[kind]!.value : undefined),
    offers: (tool) => Object.hasOwn(release.tools, tool),
    knowsError: (code) => Object.hasOwn(release.errors, code),
  };
}

/** Schema documents, parsed when they are needed. */
class Documents {
  private readonly texts: ReadonlyMap<string, string>;
  private readonly parsed = new Map<string, unknown>();
  private readonly views = new WeakMap<JsonObject, View>();

  constructor(texts: Readonly<Record<string, string>>) {
    this.texts = new Map(Object.entries(texts).map(([path, text]) => [schemaUri(path), text]));
  }

  view(ref: SchemaRef): View {
    return this.target(schemaUri(ref), "");
  }

  /** Every schema beside and below this one that speaks of the same value. */
  expanded({ schema, uri }: Place): View {
    const known = this.views.get(schema);
    if (known !== undefined) return known;
    const all: Place[] = [];
    this.gather({ schema, uri }, all, 0);
    this.views.set(schema, all);
    return all;
  }

  private gather(place: Place, all: Place[], depth: number): void {
    if (depth > MAX_DEPTH || all.some(({ schema }) => schema === place.schema)) return;
    all.push(place);
    const { schema, uri } = place;
    if (typeof schema.$ref === "string")
      for (const one of this.target(schema.$ref, uri)) this.gather(one, all, depth + 1);
    for (const branch of Array.isArray(schema.allOf) ? schema.allOf : [])
      if (isJsonObject(branch)) this.gather({ schema: branch, uri }, all, depth + 1);
    for (const branch of [schema.then, schema.else])
      if (isJsonObject(branch)) this.gather({ schema: branch, uri }, all, depth + 1);
  }

  private target(reference: string, here: string): View {
    const [document = "", pointer = ""] = reference.split("#");
    const uri = document === "" ? here : document;
    const parts = pointer
      .split("/")
      .slice(1)
      .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
    const found = parts.reduce<unknown>(
      (value, part) => (Array.isArray(value) ? value[Number(part)] : isJsonObject(value) ? value[part] : undefined),
      this.document(uri),
    );
    return isJsonObject(found) ? [{ schema: found, uri }] : [];
  }

  private document(uri: string): unknown {
    if (!this.parsed.has(uri)) {
      const text = this.texts.get(uri);
      this.parsed.set(uri, text === undefined ? undefined : JSON.parse(text));
    }
    return this.parsed.get(uri);
  }
}

const alternatives = (schema: JsonObject): readonly JsonObject[] =>
  [schema.oneOf, schema.anyOf].flatMap((list) => (Array.isArray(list) ? list.filter(isJsonObject) : []));

function shapeOf(documents: Documents, root: View): AnswerShape {
  /** All that may apply, whichever alternative a value takes. */
  const open = (view: View): View => {
    const all: Place[] = [];
    const add = (place: Place, depth: number): void => {
      for (const one of documents.expanded(place)) {
        if (depth > MAX_DEPTH || all.some(({ schema }) => schema === one.schema)) continue;
        all.push(one);
        for (const branch of alternatives(one.schema)) add({ schema: branch, uri: one.uri }, depth + 1);
      }
    };
    for (const place of view) add(place, 0);
    return all;
  };
  const walk = (path: readonly string[]): View =>
    path.reduce<View>((view, name) => (name === "*" ? itemsOf(open(view)) : membersOf(open(view), name)), root);
  return {
    has: (...path) => walk(path).length > 0,
    requires: (...path) =>
      open(walk(path.slice(0, -1))).some(({ schema }) => listOf(schema.required).includes(path.at(-1))),
    values(...path) {
      const found = open(walk(path)).flatMap(({ schema }) =>
        "const" in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : [],
      );
      return found.length === 0 ? undefined : found;
    },
    takesNull: (...path) => open(walk(path)).some(({ schema }) => [schema.type].flat().includes("null")),
    most(...path) {
      const bounds = open(walk(path)).flatMap(({ schema }) =>
        typeof schema.maxItems === "number" ? [schema.maxItems] : [],
      );
      return bounds.length === 0 ? undefined : Math.min(...bounds);
    },
    fit: (value) => fitted(documents, root, value) as JsonObject,
  };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const membersOf = (view: View, name: string): View =>
  view.flatMap(({ schema, uri }) => {
    const member = isJsonObject(schema.properties) ? schema.properties[name] : undefined;
    if (isJsonObject(member)) return [{ schema: member, uri }];
    return member === true ? [{ schema: {}, uri }] : [];
  });

const itemsOf = (view: View): View =>
  view.flatMap(({ schema, uri }) => (isJsonObject(schema.items) ? [{ schema: schema.items, uri }] : []));

function fitted(documents: Documents, view: View, value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return value;
  const all = applying(documents, view, value);
  if (Array.isArray(value)) {
    const items = itemsOf(all);
    return items.length === 0 ? value : value.map((one) => fitted(documents, items, one, depth + 1));
  }
  // What has no fields of its own is anybody's.
  if (!all.some(({ schema }) => isJsonObject(schema.properties))) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]): [string, unknown][] => {
      if (one === undefined) return [];
      const declared = membersOf(all, name);
      const other = declared.length > 0 ? declared : patternsOf(all, name);
      return other.length === 0 ? [] : [[name, fitted(documents, other, one, depth + 1)]];
    }),
  );
}

/** Schemas for names that match a pattern, or for any other name. */
const patternsOf = (view: View, name: string): View =>
  view.flatMap(({ schema, uri }) => {
    const patterns = isJsonObject(schema.patternProperties) ? Object.entries(schema.patternProperties) : [];
    const matching = patterns.filter(([pattern]) => new RegExp(pattern, "u").test(name)).map(([, one]) => one);
    return [...matching, schema.additionalProperties].flatMap((one) =>
      isJsonObject(one) ? [{ schema: one, uri }] : [],
    );
  });

/** The schemas that apply to this value: of alternatives, those that it can be. */
function applying(documents: Documents, view: View, value: object): View {
  const all: Place[] = [];
  const add = (place: Place, depth: number): void => {
    for (const one of documents.expanded(place)) {
      if (depth > MAX_DEPTH || all.some(({ schema }) => schema === one.schema)) continue;
      all.push(one);
      const branches = alternatives(one.schema).map((schema) => ({ schema, uri: one.uri }));
      const possible = branches.filter((branch) =>
        documents.expanded(branch).every((each) => mayBe(documents, each, value)),
      );
      for (const branch of possible.length > 0 ? possible : branches) add(branch, depth + 1);
    }
  };
  for (const place of view) add(place, 0);
  return all;
}

/** Nothing in the value speaks against the schema: what it requires is there, and its constants are met. */
function mayBe(documents: Documents, { schema, uri }: Place, value: object): boolean {
  const members = value as JsonObject;
  if (!listOf(schema.required).every((name) => members[name as string] !== undefined)) return false;
  if (typeof schema.type === "string" && (schema.type === "array") !== Array.isArray(value)) return false;
  return Object.entries(isJsonObject(schema.properties) ? schema.properties : {}).every(([name, member]) => {
    const own = members[name];
    if (own === undefined || typeof own === "object" || !isJsonObject(member)) return true;
    return documents.expanded({ schema: member, uri }).every((each) => {
      if ("const" in each.schema) return each.schema.const === own;
      return !Array.isArray(each.schema.enum) || each.schema.enum.includes(own);
    });
  });
}
