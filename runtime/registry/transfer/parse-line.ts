/** Reads a line: what is off in its form is named with its place. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { AGENT_URL_LIMIT } from "../model.js";
import type { TransferLine } from "./lines.js";

/** Without the one character that PostgreSQL keeps in no text: what one registry exports another imports. */
const text = { type: "string", minLength: 1, maxLength: AGENT_URL_LIMIT, pattern: "^[^\\u0000]*$" };
const texts = { type: "array", items: text };
const list = (items: object): object => ({ type: "array", items });
const record = (properties: Record<string, object>, required: string[] = []): object => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const one = (...values: string[]): object => ({ enum: values });
const instant = { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$" };
const delegation = one("direct", "delegated", "ad_network");
const yes = { type: "boolean" };

const propertySchema = record(
  {
    property_id: text,
    property_type: text,
    name: text,
    identifiers: list(record({ type: text, value: text }, ["type", "value"])),
    tags: texts,
    supported_channels: texts,
    delegation_type: delegation,
  },
  ["property_type", "name", "identifiers"],
);
const properties = list({ $ref: "#/$defs/property" });
const agentSchema = record(
  {
    url: text,
    authorized_for: text,
    authorization_type: one(
      "property_ids",
      "property_tags",
      "inline_properties",
      "publisher_properties",
      "signal_ids",
      "signal_tags",
    ),
    property_ids: texts,
    property_tags: texts,
    properties,
    publisher_properties: list(record({ property_ids: texts, property_types: texts, tags: texts })),
    countries: list({ type: "string", pattern: "^[A-Z]{2}$" }),
    delegation_type: delegation,
    exclusive: yes,
    effective_from: instant,
    effective_until: instant,
    placement_ids: texts,
    placement_tags: texts,
    signal_ids: texts,
    signal_tags: texts,
    signing_keys: list({ type: "object" }),
  },
  ["url"],
);
const fileSchema = record({
  properties,
  authorized_agents: list({ $ref: "#/$defs/agent" }),
  genres: texts,
  genre_taxonomy: text,
  others: list(record({ publisher_domain: text, agent: { $ref: "#/$defs/agent" } }, ["publisher_domain", "agent"])),
});

/** Kind -> what such a line holds. */
const lineSchemas = {
  publisher: record(
    {
      kind: { const: "publisher" },
      domain: text,
      crawl: record({
        outcome: one("valid", "invalid", "absent", "unreachable"),
        valid: yes,
        method: one("direct", "authoritative_location", "ads_txt_managerdomain"),
        manager_domain: text,
        crawled_at: instant,
        validated_at: instant,
        http_status: { type: "integer", minimum: 100, maximum: 599 },
        bytes: { type: "integer", minimum: 0 },
        resolved_url: text,
      }),
      adagents_json: { $ref: "#/$defs/file" },
      aao_hosted: { $ref: "#/$defs/file" },
      discovered: record({ properties }, ["properties"]),
      brand_json: record(
        {
          name: text,
          properties,
          agents: list(record({ url: text, type: text, id: text, description: text }, ["url", "type", "id"])),
        },
        ["properties"],
      ),
    },
    ["kind", "domain"],
  ),
  member: record(
    {
      kind: { const: "member" },
      slug: text,
      organization: text,
      display_name: text,
      tier: text,
      founding: yes,
      is_public: yes,
      domains: list(record({ domain: text, verified: yes }, ["domain", "verified"])),
      agents: list(
        record(
          {
            url: text,
            name: text,
            type: text,
            visibility: one("public", "members_only", "private"),
            delivery_types: texts,
            format_kinds: texts,
            has_tmp: yes,
          },
          ["url"],
        ),
      ),
    },
    ["kind", "slug", "display_name"],
  ),
  hosted: record({ kind: { const: "hosted" }, domain: text, file: { type: "object" } }, ["kind", "domain", "file"]),
  claims: record(
    {
      kind: { const: "claims" },
      agent_url: text,
      claims: list(record({ publisher_domain: text, authorized_for: text }, ["publisher_domain"])),
    },
    ["kind", "agent_url", "claims"],
  ),
} as const;

export type Kind = keyof typeof lineSchemas;
const kinds = Object.keys(lineSchemas) as Kind[];

const $defs = { property: propertySchema, agent: agentSchema, file: fileSchema };
let compiled: Record<Kind, ValidateFunction> | undefined;

/** Made with the first line: compiling takes some milliseconds. */
const validators = (): Record<Kind, ValidateFunction> => {
  if (compiled !== undefined) return compiled;
  const ajv = new Ajv2020({ strict: true, code: { optimize: false } });
  compiled = Object.fromEntries(
    Object.entries(lineSchemas).map(([kind, schema]) => [kind, ajv.compile({ ...schema, $defs })]),
  ) as Record<Kind, ValidateFunction>;
  return compiled;
};

export type ParsedLine =
  | { readonly ok: true; readonly line: TransferLine }
  | { readonly ok: false; readonly why: string };

const off = (why: string): ParsedLine => ({ ok: false, why });

const explain = ({ instancePath, message, params }: ErrorObject): string => {
  const name = (params as { additionalProperty?: string }).additionalProperty;
  return `${instancePath || "the object"} ${message ?? "is off"}${name === undefined ? "" : ` (${name})`}`;
};

/** Reads one line; domains and URLs in it are checked when it is turned into what the registry keeps. */
export function parseLine(line: string): ParsedLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return off(`is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return off("is no JSON object");
  const kind = (value as { kind?: unknown }).kind;
  if (!kinds.includes(kind as Kind)) return off(`kind is none of ${kinds.join(", ")}`);
  const validate = validators()[kind as Kind];
  return validate(value) ? { ok: true, line: value as TransferLine } : off(explain(validate.errors![0]!));
}
