/** Types, constants and enums. */
import { number, type Shape, text } from "./shape.js";

export const scalars: Record<string, Shape> = {
  true: { schema: true },
  false: { schema: false },
  empty: { schema: {} },
  "huge enum": {
    schema: { type: "string", enum: Array.from({ length: 3000 }, (_, at) => `value_${at}`) },
    values: ["value_2999", "value_3000"],
  },
  "enum of all kinds": {
    schema: { enum: [null, true, 0, -1.5, 1e21, "a", 'q"\\\n', [1, "x"], { k: [null], "a-b": 1 }] },
    values: [null, 1e21, [1, "x"], { k: [null], "a-b": 1 }, { k: [] }],
  },
  "enum with wrong type": { schema: { type: "string", enum: ["a", 1, null] }, values: ["a", 1, null] },
  "enum beside bounds": {
    schema: { enum: ["a", "bb", 1, 4, null], type: ["string", "integer"], minLength: 2, minimum: 2, pattern: "^b" },
    values: ["a", "bb", 1, 4, null],
  },
  "enum of objects and lists beside their demands": {
    schema: {
      enum: [{ a: 1, b: "x" }, { a: 1 }, { a: "1", b: "x" }, [1, 1], [1], "a"],
      properties: { a: number, b: text },
      required: ["b"],
      additionalProperties: false,
      items: number,
      minItems: 2,
    },
    values: [{ a: 1, b: "x" }, { a: 1 }, { a: "1", b: "x" }, [1, 1], [1], "a"],
  },
  "const beside a list and a kind": {
    schema: { type: "object", properties: { a: { const: "a", enum: ["a", "b"] }, b: { const: 1, type: "string" } } },
    values: [{ a: "a" }, { a: "b" }, { b: 1 }],
  },
  "const null": { schema: { const: null }, values: [null, 0] },
  "const object": { schema: { const: { a: [1] } }, values: [{ a: [1] }, { a: [2] }] },
  "const false, zero, empty": {
    schema: { type: "object", properties: { f: { const: false }, z: { const: 0 }, e: { const: "" } }, required: ["f"] },
    values: [{ f: false, z: 0, e: "" }, { f: true }],
  },
  "type lists": {
    schema: {
      type: ["object", "array", "string", "null"],
      properties: { a: text },
      items: number,
      additionalProperties: false,
    },
    values: [null, "a", [1], ["1"], { a: "x" }, { b: 1 }],
  },
  "type list of one": { schema: { type: ["string"] } },
  null: { schema: { type: "null" }, values: [null] },
  integer: {
    schema: { type: "integer", minimum: 1, maximum: 5, multipleOf: 2, exclusiveMinimum: 1 },
    values: [2, 4, 5, 2.5, 1e30],
  },
  "tuple of all lengths": {
    schema: { type: "array", items: [text, number, text], minItems: 2, maxItems: 5 },
    values: [["a", 1], ["a"], ["a", 1, "b", 4, 5, 6]],
  },
  lengths: { schema: { type: "string", minLength: 1, maxLength: 3 }, values: ["", "abc", "abcd", "😀😀😀"] },
};
