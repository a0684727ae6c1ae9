/** Objects: maps, patterns, closed ones. */
import { number, type Shape, text } from "./shape.js";

export const objects: Record<string, Shape> = {
  "booleans inside": {
    schema: { type: "object", properties: { yes: true, no: false }, additionalProperties: false },
    values: [{ yes: 1 }, { no: 1 }],
  },
  map: { schema: { type: "object", additionalProperties: number }, values: [{ a: 1 }, { a: "1" }] },
  "map beside properties of another type": {
    schema: {
      type: "object",
      properties: { a: text, b: { type: "object", properties: { c: text } } },
      required: ["a"],
      additionalProperties: number,
    },
    values: [
      { a: "x", z: 1 },
      { a: "x", z: "1" },
      { a: "x", b: { c: "y" } },
    ],
  },
  "pattern properties": {
    schema: { type: "object", patternProperties: { "^x-": text, "^n[0-9]+$": number } },
    values: [{ "x-a": "1" }, { "x-a": 1 }, { n1: 1 }, { n1: "1" }, { q: [] }],
  },
  "pattern properties, closed": {
    schema: {
      type: "object",
      properties: { a: number },
      patternProperties: { "^x-": text },
      additionalProperties: false,
    },
    values: [{ "x-a": "1" }, { q: 1 }, { a: 1 }],
  },
  "pattern properties beside others": {
    schema: {
      type: "object",
      properties: { a: number },
      required: ["a"],
      patternProperties: { "^x-": text },
      additionalProperties: true,
    },
    values: [
      { a: 1, "x-a": "1" },
      { a: 1, "x-a": 1 },
    ],
  },
  "property names": {
    schema: { type: "object", propertyNames: { pattern: "^[a-z]+$", maxLength: 3 } },
    values: [{ abc: 1 }, { ABC: 1 }, { abcd: 1 }],
  },
  "required without properties": {
    schema: { type: "object", required: ["a", "b"] },
    values: [{ a: 1, b: 2 }, { a: 1 }],
  },
  "properties without type": { schema: { properties: { a: text }, required: ["a"] }, values: ["x", { a: "x" }, {}] },
  "closed and empty": { schema: { type: "object", additionalProperties: false }, values: [{}, { a: 1 }] },
  "closed, empty properties": {
    schema: { type: "object", properties: {}, additionalProperties: false },
    values: [{}, { a: 1 }],
  },
  counts: {
    schema: { type: "object", minProperties: 1, maxProperties: 2 },
    values: [{}, { a: 1 }, { a: 1, b: 2, c: 3 }],
  },
};
