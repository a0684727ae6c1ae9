/** Lists and tuples. */
import { number, type Shape, text } from "./shape.js";

export const lists: Record<string, Shape> = {
  "items true": { schema: { type: "array", items: true }, values: [[1, "a"]] },
  "items false": { schema: { type: "array", items: false }, values: [[], [1]] },
  tuple: {
    schema: { type: "array", items: [text, number], additionalItems: false },
    values: [["a", 1], ["a"], ["a", 1, 2], [1]],
  },
  "tuple with a tail": {
    schema: { type: "array", items: [text], additionalItems: number, minItems: 1 },
    values: [["a", 1], ["a", "b"], []],
  },
  "long list": { schema: { type: "array", items: text, minItems: 2000 }, values: [["a"]] },
  "fixed list": { schema: { type: "array", items: text, minItems: 2, maxItems: 2 }, values: [["a", "b"], ["a"]] },
  "lists of what is less than 0": {
    schema: {
      type: "object",
      properties: {
        one: { type: "array", items: { const: -1 } },
        some: { items: { enum: [-1, 2, "a"] }, minItems: 1 },
        tail: { items: [{ const: -2 }], additionalItems: { enum: [-0.5] } },
      },
    },
    values: [{ one: [-1] }, { one: [1] }, { some: [-1, "a"] }, { some: [] }, { tail: [-2, -0.5] }, { tail: [-2, 1] }],
  },
  "what is asked of a list beside its places": {
    schema: {
      type: "object",
      properties: {
        held: { items: [true, { const: "x" }], contains: { type: "array" } },
        apart: { type: "array", items: [number, number, { type: "integer" }], uniqueItems: true },
        both: {
          items: [{ type: "integer" }, text],
          contains: { const: 1 },
          uniqueItems: true,
          allOf: [{ maxItems: 2 }],
        },
      },
    },
    values: [
      ...[{ held: [1] }, { held: [[]] }, { held: [] }, { held: [1, "x", []] }, { apart: [1, 1] }, { apart: [1, 2] }],
      ...[{ both: [2] }, { both: [1] }, { both: [1, "x"] }, { both: [1, "x", "y"] }, { both: [] }],
    ],
  },
  "list of anything": { schema: { type: "array" }, values: [[1, null]] },
  "list with contains": {
    schema: { type: "array", contains: { type: "number" }, uniqueItems: true },
    values: [[1, "a"], ["a"], [1, 1]],
  },
  "items without type": { schema: { items: text }, values: ["x", ["x"], [1]] },
};
