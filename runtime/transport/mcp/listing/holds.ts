/**
 * Whether a least value meets a schema, as far as conditions ask: which members are there, and which values they have. Texts are
 * not looked into, and of `oneOf` any will do.
 */
import { isJsonObject, type JsonObject } from "../../../contract/index.js";
import { innerPlace, membersOf, type PlaceReader, type SchemaPlace } from "./schema-place.js";

const DEEPEST = 24;

const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);

const typeOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value === "object" ? "object" : typeof value;

function typeFits(value: unknown, given: unknown): boolean {
  const types: readonly unknown[] = Array.isArray(given) ? given : [given];
  const own = typeOf(value);
  return types.includes(own) || (own === "number" && types.includes("integer") && Number.isInteger(value));
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export function holds(reader: PlaceReader, site: SchemaPlace, value: unknown, depth = 0): boolean {
  if (site.node === false) return false;
  if (depth > DEEPEST) return true;
  const node = membersOf(site);
  const under = (one: unknown, inner: unknown = value): boolean =>
    holds(reader, innerPlace(site, one), inner, depth + 1);
  if (typeof node.$ref === "string" && !holds(reader, reader.follow(node.$ref, site), value, depth + 1)) return false;
  if (!list(node.allOf).every((one) => under(one))) return false;
  for (const any of [node.anyOf, node.oneOf]) if (Array.isArray(any) && !any.some((one) => under(one))) return false;
  if (node.not !== undefined && under(node.not)) return false;
  if (node.if !== undefined) {
    const branch = under(node.if) ? node.then : node.else;
    if (branch !== undefined && !under(branch)) return false;
  }
  if ("const" in node && !same(node.const, value)) return false;
  if (Array.isArray(node.enum) && !node.enum.some((one) => same(one, value))) return false;
  if (node.type !== undefined && !typeFits(value, node.type)) return false;
  if (Array.isArray(value)) return itemsHold(node, value, under);
  return !isJsonObject(value) || membersHold(node, value, under);
}

type Under = (one: unknown, inner: unknown) => boolean;

function itemsHold(node: JsonObject, value: readonly unknown[], under: Under): boolean {
  if (typeof node.minItems === "number" && value.length < node.minItems) return false;
  if (isJsonObject(node.items) && !value.every((one) => under(node.items, one))) return false;
  if (node.contains === undefined) return true;
  const { minContains: least = 1, maxContains: most = value.length } = node;
  const count = value.filter((one) => under(node.contains, one)).length;
  return count >= Number(least) && count <= Number(most);
}

function membersHold(node: JsonObject, value: JsonObject, under: Under): boolean {
  if (!list(node.required).every((name) => typeof name === "string" && Object.hasOwn(value, name))) return false;
  const properties = isJsonObject(node.properties) ? node.properties : {};
  return Object.entries(value).every(([name, one]) =>
    Object.hasOwn(properties, name) ? under(properties[name], one) : node.additionalProperties !== false,
  );
}
