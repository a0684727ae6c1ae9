/** The smallest requests a schema allows, for agents nobody has a request for. */

import { isJsonObject, type JsonObject, type SchemaDocuments, schemaUri } from "../../contract/index.js";
import { textMatching } from "./pattern.js";

type Schema = boolean | JsonObject;

/** Deepest nesting made: a schema that needs more of itself has no smallest value. */
const MAX_DEPTH = 24;

/** Branches of each choice that are tried. */
const BRANCHES = 4;

/**
 * What becomes of `if`: it is judged, which says nothing of formats and numbers; or every `then` is kept, which may be more
 * than is asked for; or none.
 */
const conditions = ["judged", "kept", "ignored"] as const;

/** Texts that usual patterns and formats allow; the first that fits is taken. */
const texts = [
  "check",
  "check.example",
  "https://check.example",
  "2026-01-01T00:00:00Z",
  "2026-01-01",
  "00000000-0000-4000-8000-000000000000",
  "EUR",
  "US",
  "en",
  "1",
  "1.0",
  "a@check.example",
  "0123456789abcdef",
  "#000000",
];

const formats: Readonly<Record<string, string>> = {
  uri: "https://check.example/",
  url: "https://check.example/",
  "uri-reference": "/check",
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  uuid: "00000000-0000-4000-8000-000000000000",
  email: "a@check.example",
  hostname: "check.example",
};

/** What a branch may say of members that are described beside it. */
const applied = ["properties", "required", "then", "else", "allOf", "anyOf", "oneOf"];

const listOf = (value: unknown): Schema[] => (Array.isArray(value) ? (value as Schema[]) : []);

/** A flight lies ahead, and ends after it begins. */
const flights: readonly (readonly [name: RegExp, date: string])[] = [
  [/^start_(time|date)$/, "2099-01-01"],
  [/^end_(time|date)$/, "2099-02-01"],
];

function textFor({ format, pattern, minLength }: JsonObject, name: string): string {
  const day = flights.find(([one]) => one.test(name))?.[1];
  if (day !== undefined && format === "date-time") return `${day}T00:00:00Z`;
  if (day !== undefined && format === "date") return day;
  if (typeof format === "string" && Object.hasOwn(formats, format)) return formats[format]!;
  const least = typeof minLength === "number" ? minLength : 0;
  const fits = (text: string): boolean => typeof pattern !== "string" || new RegExp(pattern, "u").test(text);
  const padded = texts.flatMap((text) => [text, text.padEnd(least, "0")]);
  const made = typeof pattern === "string" ? textMatching(pattern) : undefined;
  const fitting = [...padded, ...(made === undefined ? [] : [made])];
  return fitting.find((text) => text.length >= least && fits(text)) ?? "check".padEnd(least, "0");
}

function numberFor({ minimum, exclusiveMinimum, type }: JsonObject): number {
  const above = typeof exclusiveMinimum === "number" ? exclusiveMinimum : undefined;
  if (above !== undefined) return type === "integer" ? Math.floor(above) + 1 : above + 1;
  return typeof minimum === "number" ? minimum : 1;
}

/** A part of `allOf` without its condition, which is about all of the value. */
function unconditional(schema: Schema): Schema {
  if (!isJsonObject(schema)) return schema;
  const { if: _if, then: _then, else: _else, ...rest } = schema;
  return rest;
}

/** Whether a value is what a condition asks for, as far as presence and constants tell. */
function holds(schema: Schema, value: unknown): boolean {
  if (!isJsonObject(schema)) return schema;
  const members = isJsonObject(value) ? value : {};
  const { required, properties, not } = schema;
  return (
    (!("const" in schema) || schema.const === value) &&
    (!Array.isArray(schema.enum) || schema.enum.includes(value)) &&
    listOf(required).every((name) => Object.hasOwn(members, String(name))) &&
    Object.entries(isJsonObject(properties) ? properties : {}).every(
      ([name, one]) => !Object.hasOwn(members, name) || holds(one as Schema, members[name]),
    ) &&
    listOf(schema.allOf).every((one) => holds(one, value)) &&
    [schema.anyOf, schema.oneOf].every((any) => !Array.isArray(any) || any.some((one) => holds(one, value))) &&
    (not === undefined || !holds(not as Schema, value))
  );
}

export class Sampler {
  private readonly documents: ReadonlyMap<string, Schema>;
  /** Which branch of each choice is taken. */
  private branch = 0;
  private condition: (typeof conditions)[number] = "judged";

  constructor(documents: SchemaDocuments) {
    this.documents = new Map(Object.entries(documents).map(([path, json]) => [schemaUri(path), JSON.parse(json)]));
  }

  /** The schema a reference names; true, which allows anything, where there is none. */
  resolve(uri: string): Schema {
    const [document = "", pointer = ""] = uri.split("#");
    let at: unknown = this.documents.get(document) ?? true;
    for (const part of decodeURIComponent(pointer).split("/").slice(1)) {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      at = Array.isArray(at) ? at[Number(name)] : isJsonObject(at) ? at[name] : undefined;
    }
    return isJsonObject(at) ? this.rebase(at, document) : true;
  }

  /** References inside a document may leave its name out. */
  private rebase(schema: JsonObject, document: string): JsonObject {
    const inner = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(inner);
      if (!isJsonObject(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [
          key,
          key === "$ref" && typeof one === "string" && one.startsWith("#") ? `${document}${one}` : inner(one),
        ]),
      );
    };
    return inner(schema) as JsonObject;
  }

  /** Requests, the smallest first; for judging, since what one branch of a choice wants another may forbid. */
  *requests(ref: string): Iterable<JsonObject> {
    for (this.condition of conditions) {
      for (this.branch = 0; this.branch < BRANCHES; this.branch++) {
        const value = this.sample(this.resolve(schemaUri(ref)), 0);
        if (isJsonObject(value)) yield value;
      }
    }
  }

  /** A value for a member that a request may have; undefined where the schema does not describe one. */
  member(ref: string, name: string): unknown {
    this.branch = 0;
    const root = this.resolve(schemaUri(ref));
    const properties = isJsonObject(root) && isJsonObject(root.properties) ? root.properties : {};
    const schema = Object.hasOwn(properties, name) ? (properties[name] as Schema) : undefined;
    return schema === undefined ? undefined : this.sample(schema, 0, name);
  }

  /** Members a request must have. */
  required(ref: string): string[] {
    const [smallest = {}] = this.requests(ref);
    return Object.keys(smallest);
  }

  private sample(schema: Schema, depth: number, name = ""): unknown {
    if (typeof schema === "boolean" || depth > MAX_DEPTH) return {};
    if (typeof schema.$ref === "string") {
      const { $ref, ...beside } = schema;
      return this.merge(this.sample(this.resolve($ref), depth + 1, name), beside, depth, name);
    }
    if ("const" in schema) return schema.const;
    if (Array.isArray(schema.enum)) return schema.enum[0];
    return this.merge(this.plain(schema, depth, name), schema, depth, name);
  }

  private plain(schema: JsonObject, depth: number, name: string): unknown {
    const { type } = schema;
    const kind = Array.isArray(type) ? type[0] : type;
    switch (kind) {
      case "string":
        return textFor(schema, name);
      case "number":
      case "integer":
        return numberFor(schema);
      case "boolean":
        return false;
      case "null":
        return null;
      case "array": {
        const count = typeof schema.minItems === "number" ? schema.minItems : 0;
        return Array.from({ length: count }, () => this.sample((schema.items as Schema) ?? true, depth + 1));
      }
      default:
        return this.members(schema, depth);
    }
  }

  private members({ required, properties }: JsonObject, depth: number): JsonObject {
    const known = isJsonObject(properties) ? properties : {};
    const names = listOf(required).filter((name): name is never => typeof name === "string") as string[];
    return Object.fromEntries(
      names.map((name) => [name, this.sample((known[name] as Schema) ?? true, depth + 1, name)]),
    );
  }

  /** What a schema's unions add: everything of `allOf`, and one of each choice. */
  private merge(value: unknown, schema: JsonObject, depth: number, name: string): unknown {
    const one = (branches: readonly Schema[]): readonly Schema[] =>
      branches.slice(Math.min(this.branch, branches.length - 1)).slice(0, 1);
    const all = listOf(schema.allOf);
    const choices = [...all.map(unconditional), ...one(listOf(schema.anyOf)), ...one(listOf(schema.oneOf))];
    const typed = schema.type !== undefined || schema.properties !== undefined || schema.required !== undefined;
    let merged = value;
    const add = (choice: Schema): void => {
      const own =
        isJsonObject(choice) && isJsonObject(schema.properties)
          ? this.withProperties(choice, schema.properties)
          : choice;
      const more = this.sample(own, depth + 1, name);
      merged = isJsonObject(merged) && isJsonObject(more) ? { ...merged, ...more } : typed ? merged : more;
    };
    for (const choice of choices) add(choice);
    for (const holder of [schema, ...all]) for (const branch of this.consequences(holder, merged)) add(branch);
    if (isJsonObject(merged) && (Array.isArray(schema.required) || isJsonObject(schema.properties))) {
      merged = { ...this.members(schema, depth), ...merged };
    }
    return merged;
  }

  /** What a condition adds to a value. */
  private consequences(holder: Schema, value: unknown): Schema[] {
    if (!isJsonObject(holder) || holder.if === undefined || this.condition === "ignored") return [];
    const taken = this.condition === "kept" || holds(holder.if as Schema, value) ? holder.then : holder.else;
    return taken === undefined ? [] : [taken as Schema];
  }

  /** A branch that only says what is required finds the members' schemas beside it. */
  private withProperties(branch: JsonObject, properties: JsonObject): JsonObject {
    if (applied.every((name) => branch[name] === undefined)) return branch;
    const own = isJsonObject(branch.properties) ? branch.properties : {};
    return { ...branch, properties: { ...properties, ...own } };
  }
}
