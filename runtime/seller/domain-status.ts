/** Whether a tool's answers have a `status` of their domain, which the task's must not be written over. */
import {
  isJsonObject,
  isTaskStatus,
  type JsonObject,
  type SchemaDocuments,
  type SchemaRef,
  schemaUri,
} from "../contract/index.js";

/** Statuses some releases have beyond ours; they speak of tasks all the same. */
const foreign = new Set(["auth-required", "unknown"]);

const speaksOfTasks = (value: unknown): boolean =>
  isTaskStatus(value) || (typeof value === "string" && foreign.has(value));

/** Reads schemas of one release. */
export function domainStatusReader(documents: SchemaDocuments): (ref: SchemaRef) => boolean {
  const byUri = new Map(Object.entries(documents).map(([path, text]) => [schemaUri(path), text]));

  const at = (reference: string, here: string): { schema: unknown; uri: string } => {
    const [document = "", pointer = ""] = reference.split("#");
    const uri = document === "" ? here : document;
    const text = byUri.get(uri);
    const steps = pointer
      .split("/")
      .slice(1)
      .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
    const root: unknown = text === undefined ? undefined : JSON.parse(text);
    return {
      schema: steps.reduce<unknown>((value, part) => (isJsonObject(value) ? value[part] : undefined), root),
      uri,
    };
  };

  /** Every schema that applies to the same value. */
  function* applied(schema: unknown, uri: string, depth = 0): Iterable<{ schema: JsonObject; uri: string }> {
    if (!isJsonObject(schema) || depth > 16) return;
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

  return (ref) => {
    const [document = "", pointer] = ref.split("#");
    const root = at(pointer === undefined ? schemaUri(document) : `${schemaUri(document)}#${pointer}`, "");
    return [...applied(root.schema, root.uri)].some(
      ({ schema, uri }) =>
        isJsonObject(schema.properties) && "status" in schema.properties && isDomains(schema.properties.status, uri),
    );
  };
}
