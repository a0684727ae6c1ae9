/** Names, titles, descriptions and keywords that are hard to print. */
import type { Any } from "../../support/mutate-release.js";
import { number, type Shape, text } from "./shape.js";

const oddNames = [
  "$ref",
  "$id",
  "__proto__",
  "constructor",
  "toString",
  "default",
  "class",
  "enum",
  "properties",
  "items",
  "a b",
  "a-b",
  "1st",
  "42",
  "a'b",
  'a"b',
  "a\\b",
  "a/b",
  "a~b",
  "a%b",
  "a\nb",
  "\u2028",
  "ünï",
  "日本",
  "*/",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: code that must stay text
  "`${x}`",
];

const named = (names: readonly string[], schema: Any): Any => Object.fromEntries(names.map((name) => [name, schema]));

export const texts: Record<string, Shape> = {
  "annotations only": { schema: { title: "Only A Title", description: "And text." } },
  "odd property names": {
    schema: { type: "object", properties: named(oddNames, text), required: ["$ref"] },
    values: [{ $ref: "a" }, { $ref: 1 }, JSON.parse('{"$ref": "a", "__proto__": 1}')],
  },
  "odd property names, closed": {
    schema: { type: "object", properties: named(oddNames, text), additionalProperties: false },
    values: [{ toString: "a" }, { toString: 1 }, { valueOf: 1 }],
  },
  "odd names required": {
    schema: { type: "object", properties: named(oddNames, text), required: oddNames },
    values: [named(oddNames, "a")],
  },
  "odd definition names": {
    schema: { type: "object", properties: { a: { $ref: "#/$defs/constructor" }, b: { $ref: "#/$defs/toString" } } },
    root: { $defs: { constructor: text, toString: number } },
    values: [{ a: "a", b: 1 }, { a: 1 }, { b: "1" }],
  },
  "hostile descriptions": {
    schema: {
      type: "object",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: code that must stay text
      description: "Ends */ here `${1}` \u2028 and \u2029 <!-- --> // /* \\ */ export {}. More.",
      properties: {
        a: { type: "string", description: "*/ } export const x = 1; /*" },
        b: { type: "string", title: "*/ alert", description: "line\n * @deprecated\n */" },
      },
    },
  },
  "hostile titles": {
    schema: {
      type: "object",
      title: "*/ } declare global {} /*",
      properties: {
        a: { type: "object", title: "1 Digit $first Ünï 日本", properties: { x: text } },
        b: { type: "object", title: "class", properties: { x: text } },
        c: { title: "", type: "object", properties: {} },
        d: { title: "日本", type: "object", properties: { y: text } },
      },
    },
  },
  "titles of global types": {
    schema: {
      type: "object",
      properties: Object.fromEntries(
        ["Array", "Record", "Object", "String", "Promise", "Date", "Readonly", "Function", "Symbol", "Map"].map(
          (title) => [title.toLowerCase(), { title, type: "object", properties: { v: text } }],
        ),
      ),
    },
  },
  "titles of the contract": {
    schema: {
      type: "object",
      properties: Object.fromEntries(
        ["Tool", "Answer", "Failure", "Handlers", "Release", "Adbind Root"].map((title) => [
          title.toLowerCase(),
          { title, type: "object", properties: { v: text } },
        ]),
      ),
    },
  },
  "titles that repeat": {
    schema: {
      type: "object",
      properties: {
        a: { title: "Same", type: "object", properties: { x: text } },
        b: { title: "Same", type: "object", properties: { y: number } },
        c: { title: "Same 2", type: "object", properties: { z: number } },
        d: { title: "same", type: "object", properties: { q: text } },
      },
    },
  },
  "unknown keywords": {
    schema: {
      type: "object",
      unheardOf: { a: 1, properties: { type: "number" } },
      "x-y": [1],
      properties: { a: { type: "string", example: "x", deprecated: true, readOnly: true, nullable: true } },
    },
    values: [{ a: null }, { a: 1 }],
  },
  "data that looks like schema": {
    schema: {
      type: "object",
      default: { $ref: "#/nowhere" },
      examples: [{ $ref: "#/nowhere", $id: "x" }],
      properties: { a: { default: { $ref: "x.json" }, type: "string" } },
    },
    values: [{ a: "x" }, { a: 1 }],
  },
  formats: {
    schema: {
      type: "object",
      properties: Object.fromEntries(
        [
          "date",
          "date-time",
          "time",
          "email",
          "uri",
          "uuid",
          "hostname",
          "ipv4",
          "ipv6",
          "uri-template",
          "json-pointer",
          "regex",
          "duration",
          "unheard-of",
        ].map((format) => [format, { type: "string", format }]),
      ),
    },
    values: [
      { date: "2024-02-30" },
      { "date-time": "2024-02-01T00:00:00Z" },
      { email: "x" },
      { uri: "x" },
      { "unheard-of": "x" },
      { regex: "(" },
    ],
  },
  patterns: { schema: { type: "string", pattern: "^(?=.*\\d)[\\w'\"`\\\\/\u2028-]{2,}$" }, values: ["a1", "'1", "a"] },
  "nested id": {
    schema: {
      $id: "mutant-nested.json",
      type: "object",
      properties: { a: { $ref: "#/$defs/inner" } },
      $defs: { inner: text },
    },
    values: [{ a: "x" }, { a: 1 }],
  },
};
