/** What the rules of types are shown on: a property for each. */

const text = { type: "string" };
const number = { type: "number" };
const id = "/schemas/1.2.3/";

// biome-ignore lint/suspicious/noThenProperty: the keyword of JSON schema
const then = (demand: object): object => ({ then: demand });

export const ruleProperties = {
  idempotency_key: { type: "string", minLength: 16, pattern: "^[a-z*/]+$", default: "*/" },
  open: { type: "object", properties: { a: text }, additionalProperties: true },
  silent: { type: "object", properties: { a: text } },
  free: { type: "object" },
  typed: { type: "object", additionalProperties: number },
  mixed: { type: "object", properties: { a: text }, additionalProperties: number },
  ext: { type: "object", properties: { a: text } },
  context: { $ref: `${id}core/told.json` },
  assets: {
    type: "object",
    patternProperties: { "^[a-z]+$": { oneOf: [{ $ref: `${id}core/line.json` }, { $ref: `${id}core/told.json` }] } },
    additionalProperties: true,
  },
  fixed: { type: "object", properties: { a: text }, patternProperties: { "^x_": number } },
  undeclared: { type: "object", properties: { a: text }, required: ["a", "b"] },
  budget: { type: "object", properties: { amount: number, unit: text }, required: ["amount"] },
  lines: { type: "array", items: { type: "object", properties: { x: number, y: number, z: text } }, minItems: 1 },
  pair: { type: "array", items: [text, number], minItems: 1 },
  shut: { type: "array", items: [text, number], minItems: 2, additionalItems: false },
  nested: {
    type: "object",
    properties: { one: text, two: text },
    oneOf: [
      { required: ["one"], not: { required: ["two"] } },
      { required: ["two"], not: { required: ["one"] } },
    ],
  },
  many: {
    type: "object",
    properties: Object.fromEntries([..."abcdefghi"].map((name) => [name, text])),
    anyOf: [..."abcdefghi"].map((name) => ({ required: [name] })),
  },
  element: {
    type: "object",
    properties: { kind: text },
    required: ["kind"],
    allOf: [{ if: { properties: { kind: { const: "app" } } }, ...then({ properties: { apps: { type: "object" } } }) }],
    dependencies: { apps: { properties: { store: text } } },
  },
  either: {
    type: "object",
    oneOf: [
      { properties: { a: text }, required: ["a"] },
      { properties: { b: text }, required: ["b"] },
    ],
    if: { required: ["a"] },
    ...then({ properties: { c: text, b: false } }),
  },
  listed: {
    enum: ["a", { k: 1, b: "x" }, [1], 7],
    properties: { k: number },
    required: ["k"],
    items: number,
    minLength: 1,
    anyOf: [{ type: ["string", "array"] }, { properties: { k: number } }],
  },
  either_a_or_b: {
    type: ["object", "null"],
    properties: { a: text, b: text },
    anyOf: [{ required: ["a"] }, { required: ["b"] }],
  },
  told: { type: ["string", "object"], allOf: [{ properties: { a: text }, required: ["a"] }] },
  without: {
    type: ["object", "null"],
    properties: { a: text },
    required: ["a"],
    not: { required: ["b"] },
    allOf: [{ properties: { z: text } }],
  },
  unmeant: { type: "string", const: 5 },
  sealed: { properties: { a: text }, additionalProperties: false, ...then({ properties: { c: text } }), if: true },
  level: {
    type: "string",
    enum: ["low", "high"],
    enumDescriptions: { low: "Little. Very.", high: "Much */ more." },
    description: "How\u0000 much. Or how little.",
    deprecated: true,
  },
};
