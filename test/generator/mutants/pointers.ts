/** References into places that are not definitions, and spellings of pointers. */
import { number, type Shape, text } from "./shape.js";

export const pointers: Record<string, Shape> = {
  "into a branch": {
    schema: {
      oneOf: [
        { type: "object", properties: { x: text }, required: ["x"] },
        { type: "object", properties: { y: { $ref: "#/properties/mutant/oneOf/0/properties/x" } }, required: ["y"] },
      ],
    },
    values: [{ x: "a" }, { y: "a" }, { y: 1 }],
  },
  "escaped slash": { schema: { $ref: "#/$defs/a~1b" }, root: { $defs: { "a/b": text } } },
  "escaped tilde": { schema: { $ref: "#/$defs/a~0b" }, root: { $defs: { "a~b": text } } },
  "escaped tilde one": { schema: { $ref: "#/$defs/a~01b" }, root: { $defs: { "a~1b": text } } },
  "percent-encoded space": { schema: { $ref: "#/$defs/a%20b" }, root: { $defs: { "a b": text } } },
  "percent-encoded letter": { schema: { $ref: "#/$defs/%66oo" }, root: { $defs: { foo: text } } },
  "percent-encoded quote": { schema: { $ref: "#/$defs/a%22b" }, root: { $defs: { 'a"b': text } } },
  "percent-encoded hash": { schema: { $ref: "#/$defs/a%23b" }, root: { $defs: { "a#b": text } } },
  "percent-encoded umlaut": { schema: { $ref: "#/$defs/%C3%BC" }, root: { $defs: { ü: text } } },
  "percent-encoded escape": { schema: { $ref: "#/$defs/a~1b%20c" }, root: { $defs: { "a/b c": text } } },
  "number as name": { schema: { $ref: "#/$defs/1" }, root: { $defs: { 1: text } } },
  "empty name": { schema: { $ref: "#/$defs/" }, root: { $defs: { "": text } } },
  "name of a keyword": { schema: { $ref: "#/$defs/properties" }, root: { $defs: { properties: text } } },
  "under an extension": { schema: { $ref: "#/x-shared/thing" }, root: { "x-shared": { thing: text } } },
  "into another file's $defs": {
    schema: { $ref: "mutant-defs.json#/$defs/code" },
    files: { "mutant-defs.json": { $defs: { code: { type: "string", pattern: "^[A-Z]+$" } } } },
    values: ["ABC", "abc"],
  },
  "into a file that is only definitions": {
    schema: { $ref: "mutant-defs.json#/definitions/a" },
    files: { "mutant-defs.json": { definitions: { a: { $ref: "#/definitions/b" }, b: text } } },
  },
  "through an anchor": { schema: { $ref: "#spot" }, root: { $defs: { any: { $id: "#spot", type: "string" } } } },
  "with siblings": {
    schema: { $ref: "#/$defs/s", minLength: 3, description: "Beside it." },
    root: { $defs: { s: text } },
    values: ["ab", "abc", 1],
  },
  "with a sibling that closes": {
    schema: { $ref: "#/$defs/o", required: ["b"], properties: { b: text } },
    root: { $defs: { o: { type: "object", properties: { a: text } } } },
    values: [{ a: "x" }, { b: "x" }, { b: 1 }],
  },
  "into items": {
    schema: {
      type: "object",
      properties: {
        list: { type: "array", items: { type: "object", properties: { v: number } } },
        one: { $ref: "#/properties/mutant/properties/list/items" },
      },
    },
    values: [{ one: { v: 1 } }, { one: { v: "1" } }],
  },
  "into a tuple": {
    schema: {
      type: "object",
      properties: {
        pair: { type: "array", items: [text, number] },
        second: { $ref: "#/properties/mutant/properties/pair/items/1" },
      },
    },
    values: [{ second: 1 }, { second: "1" }],
  },
  "into if and not": {
    schema: {
      type: "object",
      if: { properties: { a: { const: 1 } }, required: ["a"] },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON schema
      then: { required: ["b"] },
      properties: { c: { $ref: "#/properties/mutant/if/properties/a" }, d: { $ref: "#/properties/mutant/not" } },
      not: { required: ["never"] },
    },
    values: [{ c: 1 }, { c: 2 }, { a: 1 }, { d: {} }, { d: { never: 1 } }],
  },
  "to a boolean": {
    schema: { type: "object", properties: { yes: { $ref: "#/$defs/yes" }, no: { $ref: "#/$defs/no" } } },
    root: { $defs: { yes: true, no: false } },
    values: [{ yes: 1 }, { no: 1 }, {}],
  },
};
