/** Schemas that contain themselves. `#` is the request. */
import { number, type Shape, text } from "./shape.js";

export const recursions: Record<string, Shape> = {
  "direct, through #": { schema: { $ref: "#" } },
  "list of #": { schema: { type: "array", items: { $ref: "#" } } },
  "through $defs": {
    schema: { $ref: "#/$defs/node" },
    root: {
      $defs: {
        node: {
          type: "object",
          properties: { value: text, next: { $ref: "#/$defs/node" } },
          required: ["value"],
          additionalProperties: false,
        },
      },
    },
    values: [{ value: "a" }, { value: "a", next: { value: "b" } }, { value: "a", next: { value: 1 } }],
  },
  "through two files": {
    schema: { $ref: "mutant-left.json" },
    files: {
      "mutant-left.json": {
        type: "object",
        properties: { right: { $ref: "mutant-right.json" }, name: text },
        required: ["name"],
      },
      "mutant-right.json": { type: "array", items: { $ref: "mutant-left.json" } },
    },
    values: [{ name: "a" }, { name: "a", right: [{ name: "b" }] }, { name: "a", right: [{}] }],
  },
  "union of a scalar and a list of itself": {
    schema: { $ref: "#/$defs/tree" },
    root: { $defs: { tree: { oneOf: [text, { type: "array", items: { $ref: "#/$defs/tree" } }] } } },
    values: ["a", ["a", ["b"]], [["a", 1]]],
  },
  "map of itself": {
    schema: { $ref: "#/$defs/map" },
    root: { $defs: { map: { type: "object", additionalProperties: { $ref: "#/$defs/map" } } } },
    values: [{ a: { b: {} } }, { a: { b: 1 } }],
  },
  "expression tree": {
    schema: { $ref: "#/definitions/expr" },
    root: {
      definitions: {
        expr: {
          anyOf: [
            {
              type: "object",
              properties: { and: { type: "array", items: { $ref: "#/definitions/expr" } } },
              required: ["and"],
            },
            {
              type: "object",
              properties: { not: { $ref: "#/definitions/expr" } },
              required: ["not"],
              additionalProperties: false,
            },
            { type: "boolean" },
          ],
        },
      },
    },
    values: [true, { and: [true, { not: false }] }, { not: { not: 1 } }, { not: true, x: 1 }],
  },
  "allOf with itself inside": {
    schema: { $ref: "#/$defs/person" },
    root: {
      $defs: {
        base: { type: "object", properties: { name: text }, required: ["name"] },
        person: {
          allOf: [{ $ref: "#/$defs/base" }, { type: "object", properties: { friend: { $ref: "#/$defs/person" } } }],
        },
      },
    },
    values: [
      { name: "a", friend: { name: "b" } },
      { name: "a", friend: {} },
    ],
  },
  "property of itself by pointer": {
    schema: { type: "object", properties: { again: { $ref: "#/properties/mutant" }, n: number } },
    values: [{ again: { again: { n: 1 } } }, { again: { n: "1" } }],
  },
  "tuple of itself": {
    schema: { $ref: "#/$defs/pair" },
    root: { $defs: { pair: { type: "array", items: [text, { $ref: "#/$defs/pair" }], minItems: 1 } } },
    values: [["a"], ["a", ["b"]], ["a", [1]], []],
  },
};
