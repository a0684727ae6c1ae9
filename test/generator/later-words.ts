/** Schemas of later drafts that draft-07 can say, with values each takes and refuses. */
import { number, text } from "./mutants/shape.js";

/** A file of later drafts that they refer to. */
export const shared = "core/shared.json";

/** What a schema says by words of later drafts, with values it takes and refuses. */
export const said: Record<string, { schema: object; values: unknown[] }> = {
  prefixItems: {
    schema: { type: "array", prefixItems: [text, number], items: false, minItems: 1 },
    values: [["a", 1], ["a"], [], [1], ["a", 1, 2]],
  },
  "prefixItems with a tail": {
    schema: { type: "array", prefixItems: [text], items: { type: "boolean" }, additionalItems: false },
    values: [["a", true], ["a", 1], [true]],
  },
  "a reference into prefixItems": {
    schema: {
      type: "object",
      properties: {
        list: { type: "array", prefixItems: [text, { type: "array", prefixItems: [number] }], items: number },
        first: { $ref: "#/properties/mutant/properties/list/prefixItems/0" },
        inner: { $ref: "#/properties/mutant/properties/list/prefixItems/1/prefixItems/0" },
        rest: { $ref: "#/properties/mutant/properties/list/items" },
      },
    },
    values: [{ first: "a", inner: 1, rest: 1 }, { first: 1 }, { inner: "a" }, { rest: "a" }, { list: ["a", ["b"]] }],
  },
  dependentRequired: {
    schema: { type: "object", dependentRequired: { a: ["b"] } },
    values: [{ a: 1 }, { a: 1, b: 1 }, { b: 1 }],
  },
  "dependentSchemas beside dependentRequired": {
    schema: { type: "object", dependentRequired: { a: ["b"] }, dependentSchemas: { a: { properties: { c: number } } } },
    values: [{ a: 1 }, { a: 1, b: 1 }, { a: 1, b: 1, c: "x" }, { a: 1, c: 1 }, { c: "x" }],
  },
  "none to contain": { schema: { type: "array", contains: text, minContains: 0 }, values: [[], [1], ["a"]] },
  "one to contain": { schema: { type: "array", contains: text, minContains: 1 }, values: [[], [1], ["a"]] },
  "three to contain at least": {
    schema: { type: "array", contains: text, minContains: 3 },
    values: [[], ["a"], ["a", "b"], ["a", 1, "b", "c"], ["a", "b", 1, 2], "a"],
  },
  "one or two to contain": {
    schema: { contains: text, maxContains: 2 },
    values: [[], [1], ["a"], ["a", 1, "b"], ["a", "b", "c"], {}],
  },
  "none or one to contain": {
    schema: { type: "array", contains: text, minContains: 0, maxContains: 1 },
    values: [[], [1], ["a"], ["a", "b"]],
  },
  "two or three to contain, in lists of lists": {
    schema: { type: "array", items: { contains: { const: 1 }, minContains: 2, maxContains: 3, uniqueItems: false } },
    values: [[[1, 1], []], [[1, 1]], [[1, 1, 1, 2]], [[1, 1, 1, 1]], [[1, 1], [1]], []],
  },
  "more to contain than may be": {
    schema: { anyOf: [{ const: ["x"] }, { type: "array", contains: text, minContains: 2, maxContains: 1 }] },
    values: [["a"], ["a", "b"], ["x"], []],
  },
  "counts without anything to contain": {
    schema: { type: "array", minContains: 2, maxContains: 1, items: text },
    values: [[], ["a", "b"], [1]],
  },
  "unevaluatedProperties beside references and parts": {
    schema: {
      $ref: `/schemas/1.2.3/${shared}`,
      allOf: [{ properties: { a: text }, patternProperties: { "^x_": number } }],
      properties: { b: text },
      unevaluatedProperties: false,
    },
    values: [{ a: "x", b: "y", shared: 1, x_1: 1 }, { c: 1 }, { shared: "x" }, { a: 1 }, { x_1: "x" }, {}],
  },
  "unevaluatedProperties of a schema": {
    schema: { type: "object", properties: { a: text }, unevaluatedProperties: number },
    values: [{ a: "x", b: 1 }, { a: "x", b: "y" }, { a: 1 }],
  },
  "unevaluatedProperties beside alternatives of demands": {
    schema: {
      type: "object",
      properties: { a: text, b: text },
      oneOf: [{ required: ["a"] }, { required: ["b"], properties: { b: { minLength: 2 } } }],
      unevaluatedProperties: false,
    },
    values: [{ a: "x" }, { b: "yy" }, { b: "y" }, { a: "x", c: 1 }, {}],
  },
  "unevaluatedProperties where all are seen": {
    schema: { allOf: [{ additionalProperties: number }], unevaluatedProperties: false },
    values: [{ a: 1 }, { a: "x" }],
  },
  "unevaluatedProperties beside alternatives that are told apart": {
    schema: {
      type: "object",
      properties: { kind: text },
      oneOf: [
        { properties: { kind: { const: "a" }, a: number, both: text }, required: ["kind"] },
        { properties: { kind: { const: "b" }, b: number, both: number }, required: ["kind"] },
      ],
      unevaluatedProperties: false,
    },
    values: [
      { kind: "a", a: 1 },
      { kind: "b", b: 1, both: 2 },
      { kind: "a", b: 1 },
      { kind: "b", a: 1 },
      { kind: "c" },
    ],
  },
  "unevaluatedProperties beside alternatives that may hold at once": {
    schema: {
      anyOf: [
        { properties: { a: text }, required: ["a"] },
        { properties: { b: text }, additionalProperties: false, required: ["b"] },
        { required: ["c"], properties: { c: true }, anyOf: [{ properties: { d: text }, required: ["d"] }, true] },
        true,
      ],
      unevaluatedProperties: false,
    },
    values: [
      ...[{ a: "x" }, { b: "x" }, { a: "x", b: "x" }, { a: 1 }, {}],
      ...[{ c: 1, d: "x" }, { c: 1, d: 1 }, { d: "x" }, { a: "x", c: 1, d: "x" }, { a: "x", e: 1 }],
    ],
  },
  "unevaluatedProperties beside conditions": {
    schema: {
      properties: { kind: text },
      if: { properties: { kind: { const: "a" }, seen: true }, required: ["kind"] },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON schema
      then: { properties: { a: text } },
      else: { properties: { b: text } },
      dependentSchemas: { kind: { properties: { extra: number } } },
      unevaluatedProperties: false,
    },
    values: [
      ...[{ kind: "a", a: "x" }, { kind: "a", b: "x" }, { kind: "b", b: "x" }, { kind: "b", a: "x" }, { b: "x" }],
      ...[{ kind: "a", seen: 1 }, { seen: 1 }, { kind: "b", extra: 1 }, { extra: 1 }, { kind: "b", extra: "x" }],
    ],
  },
  "unevaluatedProperties beside alternatives elsewhere": {
    schema: { $ref: "#/$defs/told", properties: { kind: text }, unevaluatedProperties: false },
    values: [
      { kind: "a", a: "x" },
      { kind: "b", b: "x" },
      { kind: "a", b: "x" },
      { kind: "a", a: 1 },
    ],
  },
  unevaluatedItems: {
    schema: { type: "array", allOf: [{ prefixItems: [text, number] }], unevaluatedItems: { type: "boolean" } },
    values: [["a", 1, true], ["a", 1, 2], [1], ["a"]],
  },
  "unevaluatedItems beside alternatives": {
    schema: {
      type: ["array", "string"],
      prefixItems: [text],
      anyOf: [
        { prefixItems: [true, number] },
        { prefixItems: [true, text, true], minItems: 3 },
        { items: number },
        {
          prefixItems: [true],
          oneOf: [{ prefixItems: [true, true, true, { const: "end" }], minItems: 4 }, { maxItems: 3 }],
        },
      ],
      dependentSchemas: { length: { items: true } },
      unevaluatedItems: false,
    },
    values: [
      ...[[], ["a"], ["a", 1], ["a", 1, 2], ["a", "b"], ["a", "b", 3], ["a", true], "a"],
      ...[
        ["a", true, 1],
        ["a", 1, 1, "end"],
        ["a", 1, 1, "x"],
        ["a", 1, 1, "end", 1],
        ["a", "b", 3, 4],
        [1, 2, 3],
      ],
    ],
  },
  "unevaluatedItems beside conditions": {
    schema: {
      type: "array",
      if: { prefixItems: [{ const: "pair" }], minItems: 1 },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON schema
      then: { prefixItems: [true, number] },
      else: { prefixItems: [text, text, text] },
      unevaluatedItems: false,
    },
    values: [["pair", 1], ["pair"], ["pair", "x"], ["pair", 1, 2], ["x", "y", "z"], ["x", 1], []],
  },
  "a reference that leads to one place, whoever asks": {
    schema: {
      $defs: { tree: { $dynamicAnchor: "tree", properties: { v: text, kids: { items: { $dynamicRef: "#tree" } } } } },
      $ref: "#tree",
    },
    values: [{ v: "x", kids: [{ v: "y", kids: [] }] }, { kids: [{ kids: [{ v: 1 }] }] }, { v: 1 }],
  },
  "documents inside of one": {
    schema: {
      $defs: {
        one: { $id: "one.json", properties: { v: { $ref: "#it" } }, $defs: { it: { $anchor: "it", ...text } } },
        two: {
          $id: "deeper/two.json",
          properties: { v: { $ref: "#/$defs/it" } },
          $defs: { it: { $anchor: "it", ...number } },
        },
      },
      properties: {
        a: { $ref: "one.json" },
        b: { $ref: "/schemas/1.2.3/media-buy/deeper/two.json" },
        c: { $ref: "one.json#it" },
        d: { $ref: "deeper/two.json#/$defs/it" },
        e: { $ref: `/schemas/1.2.3/core/inside.json#inside` },
      },
    },
    values: [
      ...[{ a: { v: "x" } }, { a: { v: 1 } }, { b: { v: 1 } }, { b: { v: "x" } }, { c: "x" }, { c: 1 }],
      ...[{ d: 1 }, { d: "x" }, { e: "x" }, { e: 1 }],
    ],
  },
  "a name of its own": { schema: { $ref: "#node" }, values: [{ v: "x" }, { v: 1 }] },
};
