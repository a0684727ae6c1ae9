/** Schemas made of schemas. */
import type { Any } from "../../support/mutate-release.js";
import { number, type Shape, text } from "./shape.js";

/** Deep nesting of one keyword. */
const nest = (levels: number, wrap: (inner: Any) => Any): Any => {
  let schema: Any = text;
  for (let level = 0; level < levels; level++) schema = wrap(schema);
  return schema;
};

export const combined: Record<string, Shape> = {
  "if then else": {
    schema: {
      type: "object",
      properties: { kind: { enum: ["a", "b"] } },
      required: ["kind"],
      if: { properties: { kind: { const: "a" } } },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON schema
      then: { required: ["x"], properties: { x: text } },
      else: { properties: { y: number } },
    },
    values: [{ kind: "a" }, { kind: "a", x: "1" }, { kind: "b" }, { kind: "b", y: "1" }],
  },
  not: { schema: { type: "string", not: { enum: ["bad"] } }, values: ["good", "bad"] },
  "not of required": {
    schema: { type: "object", properties: { a: text, b: text }, not: { required: ["a", "b"] } },
    values: [{ a: "x" }, { a: "x", b: "y" }],
  },
  dependencies: {
    schema: {
      type: "object",
      properties: { a: text, b: text },
      dependencies: { a: ["b"], b: { properties: { c: number } } },
    },
    values: [{ a: "x" }, { a: "x", b: "y" }, { b: "y", c: "z" }],
  },
  "one of required": {
    schema: {
      type: "object",
      properties: { a: text, b: text },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
      additionalProperties: false,
    },
    values: [{ a: "x" }, { a: "x", b: "y" }, {}, { c: 1 }],
  },
  "any of required with properties": {
    schema: {
      type: "object",
      properties: { a: text },
      anyOf: [{ properties: { b: number }, required: ["b"] }, { required: ["a"] }],
    },
    values: [{ a: "x" }, { b: 1 }, { b: "1" }, {}],
  },
  "all of closed parts": {
    schema: {
      allOf: [
        { type: "object", properties: { a: text }, additionalProperties: false },
        { type: "object", properties: { a: { minLength: 2 } } },
      ],
    },
    values: [{ a: "xx" }, { a: "x" }, { b: 1 }],
  },
  "all of, any of and one of": {
    schema: {
      type: "object",
      properties: { k: text },
      allOf: [{ properties: { a: text } }],
      anyOf: [{ properties: { b: text } }, { properties: { c: number } }],
      oneOf: [{ required: ["k"] }, { required: ["q"] }],
    },
    values: [{ k: "x", a: "y" }, { k: "x", a: 1 }, {}],
  },
  "all of nothing": { schema: { allOf: [{}] } },
  "all of false": { schema: { type: "object", properties: { a: { allOf: [text, false] } } }, values: [{}, { a: "x" }] },
  "any of true": { schema: { anyOf: [true, text] } },
  "deep allOf": { schema: nest(60, (inner) => ({ allOf: [inner] })) },
  "deep anyOf": { schema: nest(40, (inner) => ({ anyOf: [inner, { type: "null" }] })), values: [null] },
  "deep objects": { schema: nest(60, (inner) => ({ type: "object", properties: { a: inner }, required: ["a"] })) },
  "conflicting intersection": {
    schema: {
      allOf: [
        { type: "object", properties: { a: text } },
        { type: "object", properties: { a: number } },
      ],
    },
    values: [{ a: 1 }, {}],
  },
  "deep lists": { schema: nest(60, (inner) => ({ type: "array", items: inner })) },
};
