/** Schemas as the nodes that `adbind/standalone` judges by: text of a literal, references as names of constants. */
import {
  isJsonObject,
  keywordLetters,
  nullableLetter,
  type SchemaRef,
  typesByLetter,
} from "../../runtime/contract/index.js";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Schema = { readonly [key: string]: Json };

const letterOfType = Object.fromEntries(Object.entries(typesByLetter).map(([letter, name]) => [name, letter]));

type Keyword = keyof typeof keywordLetters;

/** Keywords whose value is a schema, a list of them, or schemas by name. */
const single: ReadonlySet<string> = new Set<Keyword>([
  ...(["not", "if", "then", "else", "propertyNames", "additionalProperties", "additionalItems", "contains"] as const),
]);
const listed: ReadonlySet<string> = new Set<Keyword>(["anyOf", "oneOf", "allOf"]);
const named: ReadonlySet<string> = new Set<Keyword>(["properties", "patternProperties", "dependencies"]);

/** Columns a value may take before its entries get a line each. */
const WIDTH = 100;

const keyText = (key: string): string => {
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
};

/** Entries between brackets: on one line, or a line each where that is too long. */
function bracketed([open, close]: readonly [string, string], entries: readonly string[], indent: string): string {
  if (entries.length === 0) return open + close;
  const pad = open === "{" ? " " : "";
  const line = `${open}${pad}${entries.join(", ")}${pad}${close}`;
  if (line.length <= WIDTH && !line.includes("\n")) return line;
  return `${open}\n${entries.map((entry) => `${indent}  ${entry},\n`).join("")}${indent}${close}`;
}

const list = (entries: readonly string[], indent: string): string => bracketed(["[", "]"], entries, indent);
const map = (entries: readonly (readonly [string, string])[], indent: string): string =>
  bracketed(
    ["{", "}"],
    entries.map(([key, text]) => `${keyText(key)}: ${text}`),
    indent,
  );

/** A JSON value as a literal. */
function literal(value: Json, indent: string): string {
  const inner = `${indent}  `;
  if (Array.isArray(value))
    return list(
      value.map((one) => literal(one, inner)),
      indent,
    );
  if (isJsonObject(value))
    return map(
      Object.entries(value).map(([key, one]) => [key, literal(one, inner)]),
      indent,
    );
  return JSON.stringify(value);
}

export interface NodeNames {
  /** Name of the constant that holds a schema others refer to. */
  nameOf(ref: SchemaRef): string;
  /** The constant that stands for the schema at a place of this document; undefined where it is written out. */
  heldAt(pointer: string): string | undefined;
}

const token = (key: string | number): string => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** `/a/b.json#/c` as everywhere else in a release: without the first slash, and decoded. */
export const refOfUri = (uri: string): SchemaRef => {
  const [path, pointer] = uri.slice(1).split("#").map(decodeURIComponent) as [string, string | undefined];
  return pointer === undefined || pointer === "" ? path : `${path}#${pointer}`;
};

function typeLetters({ type, nullable }: Schema): string {
  const names = (Array.isArray(type) ? type : [type]).map(String);
  const letters = names.map((name) => letterOfType[name]!).join("");
  return nullable === true && !names.includes("null") ? letters + nullableLetter : letters;
}

/** A schema's text. What asserts nothing is left out: a schema without assertions accepts everything. */
function nodeText(schema: Json, pointer: string, names: NodeNames, indent = ""): string {
  return names.heldAt(pointer) ?? bodyText(schema, pointer, names, indent);
}

/** The same for the place itself, when something else refers to it. */
export function bodyText(schema: Json, pointer: string, names: NodeNames, indent = ""): string {
  if (!isJsonObject(schema)) return String(schema);
  const inner = `${indent}  `;
  const entries = Object.keys(keywordLetters)
    .filter((keyword) => Object.hasOwn(schema, keyword))
    .map((keyword): [string, string] => [
      keywordLetters[keyword as Keyword],
      valueText(schema, keyword, { pointer: `${pointer}/${keyword}`, names, indent: inner }),
    ]);
  if (entries.length === 0) return "true";
  const [[letter, text], ...others] = entries as [[string, string], ...[string, string][]];
  // A reference alone, and types alone, need no object around them.
  if (others.length === 0 && (letter === keywordLetters.$ref || letter === keywordLetters.type)) return text;
  return map(entries, indent);
}

interface Place {
  readonly pointer: string;
  readonly names: NodeNames;
  readonly indent: string;
}

function valueText(schema: Schema, keyword: string, { pointer, names, indent }: Place): string {
  const value = schema[keyword]!;
  const inner = `${indent}  `;
  if (keyword === "$ref") return `() => ${names.nameOf(refOfUri(value as string))}`;
  if (keyword === "type") return JSON.stringify(typeLetters(schema));
  if (keyword === "required") return requiredText(schema, indent);
  const child = (one: Json, key: string | number): string => nodeText(one, pointer + token(key), names, inner);
  if (single.has(keyword)) return nodeText(value, pointer, names, indent);
  if (listed.has(keyword) || (keyword === "items" && Array.isArray(value)))
    return list((value as Json[]).map(child), indent);
  if (keyword === "items") return nodeText(value, pointer, names, indent);
  if (!named.has(keyword)) return literal(value, indent);
  const held = Object.entries(value as Schema).filter(([key]) => key !== "__proto__");
  return map(
    held.map(([key, one]) => [key, Array.isArray(one) ? literal(one, inner) : child(one, key)]),
    indent,
  );
}

/** A name that stands in `properties` is told by its place there: names are most of what a schema holds. */
function requiredText({ required, properties }: Schema, indent: string): string {
  const places = isJsonObject(properties) ? Object.keys(properties).filter((key) => key !== "__proto__") : [];
  const texts = (required as string[]).map((name) => {
    const place = places.indexOf(name);
    return place < 0 ? JSON.stringify(name) : String(place);
  });
  return list(texts, indent);
}
