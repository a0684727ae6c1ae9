/** What a tool's answers have room for: a `status` of their domain, which the task's must not be written over; an envelope. */
import { isTaskStatus, type JsonObject, type SchemaDocuments, type SchemaRef, schemaUri } from "../contract/index.js";
import { isObject } from "./json-object.js";

/** Statuses some releases have beyond ours; they speak of tasks all the same. */
const foreign = new Set(["auth-required", "unknown"]);

const speaksOfTasks = (value: unknown): boolean =>
  isTaskStatus(value) || (typeof value === "string" && foreign.has(value));

export interface AnswerReader {
  /** The answer's `status` is not the task's. */
  hasDomainStatus(ref: SchemaRef): boolean;
  /** Names that an answer may have at its root; undefined where it may have any. */
  members(ref: SchemaRef): ReadonlySet<string> | undefined;
}

/** Reads schemas of one release. */
export function answerReader(documents: SchemaDocuments): AnswerReader {
  const byUri = new Map(Object.entries(documents).map(([path, text]) => [schemaUri(path), text]));

  const at = (reference: string, here: string): { schema: unknown; uri: string } => {
    const [document = "", pointer = ""] = reference.split("#");
    const uri = document === "" ? here : document;
    const text = byUri.get(uri);
    const parts = pointer
      .split("/")
      .slice(1)
      .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
    const root: unknown = text === undefined ? undefined : JSON.parse(text);
    return { schema: parts.reduce<unknown>((value, part) => (isObject(value) ? value[part] : undefined), root), uri };
  };

  /** Every schema that applies to the same value. */
  function* applied(schema: unknown, uri: string, depth = 0): Iterable<{ schema: JsonObject; uri: string }> {
    if (!isObject(schema) || depth > 16) return;
    yield { schema, uri };
    if (typeof schema.$ref === "string") {
      const target = at(schema.$ref, uri);
      yield* applied(target.schema, target.uri, depth + 1);
    }
    for (const key of ["oneOf", "anyOf", "allOf"]) {
      const branches = schema[key];
      if (Array.isArray(branches)) for (const branch of branches) yield* applied(branch, uri, depth + 1);
    }
  }

  const isDomains = (status: unknown, uri: string): boolean => {
    const values = [...applied(status, uri)].flatMap(({ schema }) =>
      "const" in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : [],
    );
    return values.length === 0 || !values.every(speaksOfTasks);
  };

  const places = (ref: SchemaRef): { schema: JsonObject; uri: string }[] => {
    const [document = "", pointer] = ref.split("#");
    const root = at(pointer === undefined ? schemaUri(document) : `${schemaUri(document)}#${pointer}`, "");
    return [...applied(root.schema, root.uri)];
  };
  const takes = (property: unknown, uri: string, value: string): boolean => {
    const values = [...applied(property, uri)].flatMap(({ schema }) =>
      "const" in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : [],
    );
    return values.length === 0 || values.includes(value);
  };
  return {
    hasDomainStatus: (ref) =>
      places(ref).some(
        ({ schema, uri }) =>
          isObject(schema.properties) && "status" in schema.properties && isDomains(schema.properties.status, uri),
      ),
    members(ref) {
      const closed = places(ref).filter(({ schema }) => schema.additionalProperties === false);
      if (closed.length === 0) return undefined;
      const names = closed.flatMap(({ schema, uri }) => {
        const properties = isObject(schema.properties) ? schema.properties : {};
        // A status that is only for other answers is none of this one's.
        return Object.keys(properties).filter(
          (name) => name !== "status" || takes(properties.status, uri, "completed"),
        );
      });
      return new Set(names);
    },
  };
}
