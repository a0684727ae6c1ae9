/** Small schemas, and what a shape says of each. */
import type { Schema } from "../../generator/load/walk.js";

const text = { kind: "scalar", types: ["string"] };

export const readings: [name: string, schema: Schema, shape: object][] = [
  ["true and false", { allOf: [true, false] }, { kind: "all", parts: [{ kind: "any" }, { kind: "never" }] }],
  [
    "a list of types",
    { type: ["string", "null", "object"], maxLength: 3 },
    {
      kind: "union",
      mode: "any",
      members: [
        { kind: "scalar", types: ["string", "null"], maxLength: 3 },
        { kind: "map", openness: "open" },
      ],
    },
  ],
  [
    "an object: properties by name, required ones, an undeclared one",
    { type: "object", properties: { b: { type: "string" }, a: {} }, required: ["b", "c"], additionalProperties: false },
    {
      kind: "object",
      properties: [
        { name: "a", required: false, declared: true, shape: { kind: "any" } },
        { name: "b", required: true, declared: true, shape: text },
        { name: "c", required: true, declared: false, shape: { kind: "any" } },
      ],
      openness: "closed",
    },
  ],
  [
    "true beside properties merely does not close",
    { type: "object", additionalProperties: true },
    { kind: "map", openness: "open" },
  ],
  [
    "a map by pattern",
    { type: "object", patternProperties: { "^x": { type: "string" } }, additionalProperties: false },
    { kind: "map", openness: "closed", patterns: [{ pattern: "^x", shape: text }] },
  ],
  [
    "what no kind is demanded for",
    { minLength: 2 },
    { kind: "scalar", types: ["string"], minLength: 2, lenient: true },
  ],
  [
    "a kind the schema around it demands",
    { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    {
      kind: "union",
      mode: "any",
      members: ["a", "b"].map((name) => ({
        kind: "object",
        properties: [{ name, required: true, declared: false, shape: { kind: "any" } }],
        openness: "open",
      })),
    },
  ],
  [
    "annotations beside a reference, and demands",
    { $ref: "/b.json", description: "So.", deprecated: true },
    { kind: "reference", to: "b.json", description: "So.", deprecated: true },
  ],
  [
    "demands beside a reference",
    { $ref: "/b.json", required: ["a"] },
    {
      kind: "all",
      parts: [
        {
          kind: "object",
          properties: [{ name: "a", required: true, declared: false, shape: { kind: "any" } }],
          openness: "open",
          lenient: true,
        },
        { kind: "reference", to: "b.json" },
      ],
    },
  ],
  [
    "a tuple of draft-07 keeps its open tail",
    { type: "array", items: [{ type: "string" }], minItems: 1 },
    { kind: "tuple", items: [text], rest: { kind: "any" }, minItems: 1 },
  ],
  [
    "null where a kind is nullable, as validators have it",
    { type: "string", nullable: true },
    { kind: "scalar", types: ["string", "null"] },
  ],
  [
    "words of later drafts, which no validator asks either",
    { type: "array", prefixItems: [{ type: "string" }], dependentRequired: { a: ["b"] } },
    { kind: "array", items: { kind: "any" } },
  ],
  [
    "what values mean",
    { type: "string", enum: ["x", "y"], enumDescriptions: { x: "An x." }, "x-of": 1 },
    { kind: "enum", values: ["x", "y"], meanings: { x: "An x." }, extensions: { "x-of": 1 } },
  ],
  [
    "demands beside listed values, of kinds that are listed",
    { enum: [{ a: 1 }, "x"], required: ["a"], minLength: 2, minItems: 1 },
    {
      kind: "all",
      parts: [
        { kind: "enum", values: [{ a: 1 }, "x"] },
        { kind: "scalar", types: ["string"], minLength: 2, lenient: true },
        {
          kind: "object",
          properties: [{ name: "a", required: true, declared: false, shape: { kind: "any" } }],
          openness: "open",
          lenient: true,
        },
      ],
    },
  ],
  ["one value that is of no kind demanded", { type: "string", const: 5 }, { kind: "enum", values: [] }],
  [
    "conditions",
    JSON.parse('{"if": {"required": ["a"]}, "then": false, "dependencies": {"a": ["b"]}, "not": {"const": 1}}'),
    {
      kind: "any",
      conditions: [
        {
          kind: "if",
          test: {
            kind: "object",
            properties: [{ name: "a", required: true, declared: false, shape: { kind: "any" } }],
            openness: "open",
            lenient: true,
          },
          whenTrue: { kind: "never" },
        },
        { kind: "not", shape: { kind: "const", value: 1 } },
        { kind: "needs", property: "a", properties: ["b"] },
      ],
    },
  ],
];

/** Schemas in which kinds demanded around meet what speaks of some kinds, or of others. */
export const demandedAround: Schema[] = [
  { type: "boolean", allOf: [{ items: true }] },
  { type: "boolean", allOf: [{ type: "integer", maxLength: 3, minimum: 0 }] },
  { type: "object", anyOf: [{ type: "array", minimum: 1 }, { required: ["a"] }] },
  { type: "array", oneOf: [{ enum: [{ a: 1 }, 0], required: ["a"] }, { properties: { a: { type: "array" } } }] },
  { type: ["object", "string"], allOf: [{ required: ["a"] }] },
  { type: ["object", "null"], anyOf: [{ required: ["a"] }, { required: ["b"] }] },
  { type: ["object", "null"], if: { required: ["a"] }, ...JSON.parse('{"then":{"type":["string","null"]}}') },
];
