/**
 * The manifest's own rules: the schema a release ships for it, and the tables of docs/protocol/manifest.md where it ships
 * none.
 */
import type { ErrorObject, SchemaObject } from "ajv";
import { type Finding, pointer } from "../finding.js";
import type { ReleaseFiles } from "./files.js";
import { readJson } from "./read-json.js";
import { isMap, type JsonMap } from "./walk.js";

export interface ManifestTool {
  protocol: string;
  mutating: boolean;
  request_schema: string;
  response_schema: string;
  async_response_schemas: string[];
  specialisms?: string[];
  /** What the tool does, for whoever picks one. */
  summary?: string;
  added_in?: string;
  deprecated_in?: string;
}

export interface Manifest {
  generated_at: string;
  tools: Record<string, ManifestTool>;
  error_codes: Record<string, { recovery?: string; description: string; suggestion: string; added_in?: string }>;
  error_code_policy: { default_unknown_recovery: string; note: string };
  specialisms: Record<
    string,
    { protocol: string; title?: string; entry_point_tools: string[]; exercised_tools: string[] }
  >;
}

/** Protocol surfaces (docs/protocol/manifest.md#tool-entry). */
const surfaces = [
  "media-buy",
  "signals",
  "governance",
  "account",
  "creative",
  "brand",
  "content-standards",
  "property",
  "collection",
  "sponsored-intelligence",
  "protocol",
  "compliance",
  "trusted-match",
  "a2ui",
];

const strings = { type: "array", items: { type: "string" } };
const known = { enum: ["correctable", "transient", "terminal"] };

/**
 * The tables of docs/protocol/manifest.md as a schema.
 * @param word the protocol word the manifest uses
 * @param open accept further fields, as when the release's own schema has ruled on them
 */
const tableSchema = (word: string, open: boolean): SchemaObject => {
  const object = (properties: JsonMap, optional: string[] = []): JsonMap => ({
    type: "object",
    properties,
    required: Object.keys(properties).filter((key) => !optional.includes(key)),
    additionalProperties: open,
  });
  const text = { type: "string" };
  // A class that a later release has beside these is told by the rules, and read as terminal.
  const recovery = open ? text : known;
  const tool = object(
    {
      protocol: open ? text : { enum: surfaces },
      mutating: { type: "boolean" },
      request_schema: text,
      response_schema: text,
      async_response_schemas: strings,
      specialisms: strings,
      added_in: text,
      deprecated_in: text,
    },
    ["specialisms", "added_in", "deprecated_in"],
  );
  // One that a later release says nothing of is told by the rules, and has the class of codes that nobody lists.
  const code = object({ recovery, description: text, suggestion: text, added_in: text }, [
    "added_in",
    ...(open ? ["recovery"] : []),
  ]);
  const specialism = object({ protocol: text, title: text, entry_point_tools: strings, exercised_tools: strings }, [
    "title",
  ]);
  const names = (pattern: string): JsonMap => ({ propertyNames: { pattern } });
  return object(
    {
      $schema: text,
      [`${word}_version`]: { type: "string", pattern: "^\\d+\\.\\d+\\.\\d+(-[A-Za-z0-9.-]+)?$" },
      generated_at: { type: "string", format: "date-time" },
      tools: {
        type: "object",
        minProperties: 1,
        ...names("^[a-z][a-z0-9]*(_[a-z0-9]+)*$"),
        additionalProperties: tool,
      },
      error_codes: {
        type: "object",
        minProperties: 1,
        ...names("^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$"),
        additionalProperties: code,
      },
      error_code_policy: object({ default_unknown_recovery: recovery, note: text }),
      specialisms: { type: "object", ...names("^[a-z][a-z0-9]*([_-][a-z0-9]+)*$"), additionalProperties: specialism },
    },
    ["$schema"],
  ) as SchemaObject;
};

/** Every class of recovery in a manifest, with its place; undefined of a code that has none. */
export const recoveryClasses = ({ error_codes: codes, error_code_policy: policy }: Manifest) => [
  ...Object.entries(codes).map(([code, { recovery }]) => [pointer("error_codes", code, "recovery"), recovery] as const),
  [pointer("error_code_policy", "default_unknown_recovery"), policy.default_unknown_recovery] as const,
];

/** Reads the protocol word off the one `<word>_version` key. */
export function wordOf(manifest: JsonMap): { word: string | undefined; findings: Finding[] } {
  const keys = Object.keys(manifest).filter((key) => /^[a-z][a-z0-9_]*_version$/.test(key));
  const [key] = keys;
  if (key !== undefined && keys.length === 1) return { word: key.slice(0, -"_version".length), findings: [] };
  const found = keys.length === 0 ? "none" : keys.join(", ");
  return {
    word: undefined,
    findings: [
      {
        level: "error",
        rule: "protocol-word",
        file: "manifest.json",
        pointer: "",
        message: `a manifest has exactly one <word>_version field; this one has ${found}`,
        remedy: 'Name the release in one field, e.g. "proto_version": "3.1.0".',
      },
    ],
  };
}

const remedies: Partial<Record<string, (error: ErrorObject) => string>> = {
  additionalProperties: () =>
    "Remove the field, or declare it in the manifest.schema.json the release ships: a field nothing declares is refused.",
  required: (error) => `Add ${JSON.stringify(error.params.missingProperty)}.`,
  enum: (error) =>
    `Use one of ${(error.params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(", ")}.`,
  const: (error) => `Use ${JSON.stringify(error.params.allowedValue)}.`,
};

/** The key an error is about, where the error points at the object that has it. */
const keyOf = (error: ErrorObject): string => {
  const key = error.keyword === "additionalProperties" ? error.params.additionalProperty : error.propertyName;
  return key === undefined ? "" : pointer(String(key));
};

const toFinding =
  (by: string) =>
  (error: ErrorObject): Finding => ({
    level: "error",
    rule: error.keyword === "additionalProperties" ? "manifest-unknown-field" : "manifest-schema",
    file: "manifest.json",
    pointer: error.instancePath + keyOf(error),
    message: `${error.keyword === "additionalProperties" ? "a field nothing declares" : (error.message ?? error.keyword)} (by ${by})`,
    remedy: remedies[error.keyword]?.(error) ?? "Correct the value.",
  });

/** The validator for a schema's draft: draft-07 unless it says otherwise. */
const draftOf = async (
  { $schema }: SchemaObject,
  draft07: typeof import("ajv").Ajv,
): Promise<typeof import("ajv").Ajv> => {
  if (typeof $schema !== "string" || !/20(19-09|20-12)/.test($schema)) return draft07;
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  return Ajv2020 as unknown as typeof import("ajv").Ajv;
};

/**
 * Validates a manifest: by the release's own manifest.schema.json when it ships one, and by the tables of
 * docs/protocol/manifest.md.
 */
export async function checkManifest(files: ReleaseFiles, manifest: JsonMap, word: string): Promise<Finding[]> {
  const [{ Ajv }, formats] = await Promise.all([import("ajv"), import("ajv-formats")]);
  const check = async (schema: SchemaObject, by: string): Promise<Finding[]> => {
    const Draft = await draftOf(schema, Ajv);
    const ajv = new Draft({ strict: false, allErrors: true, logger: false });
    formats.default.default(ajv);
    // Which draft it is has been seen; ajv knows the address of each in one spelling only.
    const { $schema: _, ...body } = schema;
    const validate = ajv.compile(body);
    if (validate(manifest)) return [];
    // `propertyNames` repeats what the keyword below it says of the same key.
    return (validate.errors ?? []).filter(({ keyword }) => keyword !== "propertyNames").map(toFinding(by));
  };
  const bytes = files.read("manifest.schema.json");
  if (bytes === undefined) return check(tableSchema(word, false), "adbind's own manifest schema");
  const own = readJson(bytes, "manifest.schema.json");
  if (!isMap(own.value)) return own.findings;
  try {
    const [stated, table] = [
      await check(own.value, "the release's manifest.schema.json"),
      await check(tableSchema(word, true), "adbind's own manifest schema"),
    ];
    // What both refuse at one place is one fault.
    return [...stated, ...table.filter(({ pointer: at }) => !stated.some((one) => one.pointer === at))];
  } catch (error) {
    return [
      {
        level: "error",
        rule: "manifest-schema-unusable",
        file: "manifest.schema.json",
        pointer: "",
        message: `the release's own manifest schema does not compile: ${(error as Error).message}`,
        remedy: "Correct the schema, or remove the file to have the manifest judged by adbind's own schema.",
      },
    ];
  }
}

/** Fields of a manifest that the tables of docs/protocol/manifest.md do not list; the IR keeps them. */
export function extensionsOf(manifest: JsonMap, word: string): JsonMap {
  const table = tableSchema(word, false) as JsonMap;
  const beyond = (value: JsonMap, schema: JsonMap): JsonMap =>
    Object.fromEntries(Object.entries(value).filter(([key]) => !Object.hasOwn(schema.properties as JsonMap, key)));
  const each = (kind: string): JsonMap => {
    const entry = ((table.properties as JsonMap)[kind] as JsonMap).additionalProperties as JsonMap;
    const rows = Object.entries(manifest[kind] as JsonMap).map(
      ([name, value]) => [name, beyond(value as JsonMap, entry)] as const,
    );
    return Object.fromEntries(rows.filter(([, extra]) => Object.keys(extra).length > 0));
  };
  return {
    manifest: beyond(manifest, table),
    tools: each("tools"),
    error_codes: each("error_codes"),
    specialisms: each("specialisms"),
  };
}

/** docs/protocol/manifest.md#mutating-tools, 1; the text is matched in any case: published releases spell it both ways. */
export const isExempt = (description: string): boolean => /naturally idempotent/i.test(description);

/** Names each specialism's `exercised_tools` gives a tool. */
export const exercising = (manifest: Manifest, tool: string): string[] =>
  Object.entries(manifest.specialisms)
    .filter(([, specialism]) => specialism.exercised_tools.includes(tool))
    .map(([id]) => id)
    .sort();
