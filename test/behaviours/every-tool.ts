/** Requests of every tool of a release that name something by its id, made from the release's own schemas. */
import { Sampler } from "../../runtime/conformance/check/sample.js";
import { isJsonObject, type JsonObject, type Release } from "../../runtime/contract/index.js";
import { createValidator } from "../../runtime/validate/index.js";
import { account, brand, key } from "./behaving-seller.js";

type Path = readonly (string | 0)[];

/** Where a request may have an id. */
export interface IdPlace {
  readonly path: Path;
  /** What it is an id of, such as `media_buy_id`. */
  readonly name: string;
  /** Schemas of what is on the way there, the outermost first. */
  readonly via: readonly JsonObject[];
}

/** How deep requests are looked through. */
const DEPTH = 5;

/** Members that hold ids under another name. */
const alias: Readonly<Record<string, string>> = {
  audience_include: "audience_id",
  audience_exclude: "audience_id",
  buyer_list_id: "list_id",
};

export const idName = (name: string): string => alias[name] ?? name.replace(/_ids$/, "_id");

/** Asks the sampler for one value of a schema that stands inside of another. */
type Inside = { sample(schema: JsonObject, depth: number, name?: string): unknown };

/** Places of ids in requests of a tool, of those names that are given. */
export function idPlaces(sampler: Sampler, ref: string, names: ReadonlySet<string>): IdPlace[] {
  const found = new Map<string, IdPlace>();
  const walk = (schema: unknown, place: IdPlace, seen: readonly string[]): void => {
    if (!isJsonObject(schema) || place.path.length > DEPTH) return;
    const { $ref: to, properties, items } = schema;
    if (typeof to === "string" && !seen.includes(to)) walk(sampler.resolve(to), place, [...seen, to]);
    for (const all of [schema.allOf, schema.anyOf, schema.oneOf])
      if (Array.isArray(all)) for (const one of all) walk(one, place, seen);
    const { path, name, via } = place;
    if ([schema.type].flat().includes("string") && names.has(name)) found.set(JSON.stringify(path), place);
    const inside = { name, via: [...via, schema] };
    if (items !== undefined) walk(items, { ...inside, path: [...path, 0] }, seen);
    for (const [member, one] of Object.entries(isJsonObject(properties) ? properties : {}))
      walk(one, { ...inside, path: [...path, member], name: idName(member) }, seen);
  };
  walk(sampler.resolve(`/${ref}`), { path: [], name: "", via: [] }, []);
  return [...found.values()];
}

/** The request with an id at a place; `made`: what is on the way there and lacks is made as its schema asks for it. */
export function withId(request: JsonObject, { path, via }: IdPlace, id: string, sampler?: Sampler): JsonObject {
  const put = (value: unknown, at: number): unknown => {
    const step = path[at];
    if (step === undefined) return id;
    if (step === 0) return [put(Array.isArray(value) ? value[0] : undefined, at + 1)];
    const made = value ?? (sampler && via[at] && (sampler as unknown as Inside).sample(via[at], 0));
    const before = isJsonObject(made) ? made : {};
    return { ...before, [step]: put(before[step], at + 1) };
  };
  return put(request, 0) as JsonObject;
}

/** Members of requests that sampled ones have right, whatever the tool. */
const known = { account, brand };

/** Requests of tools as their schemas have them. */
export async function requestsOf(release: Release) {
  const sampler = new Sampler(await release.schemas());
  const validator = await createValidator(release);
  const keyed = (tool: string, request: JsonObject): JsonObject =>
    ["required", "optional"].includes(release.tools[tool]!.idempotency) ? { ...request, ...key() } : request;
  const isValid = (tool: string, request: JsonObject): boolean => validator.request(tool, keyed(tool, request)).ok;
  /** The smallest that is valid; undefined where none is found. */
  const smallest = (tool: string): JsonObject | undefined => {
    for (const one of sampler.requests(release.tools[tool]!.request)) {
      const { idempotency_key: _, ...rest } = one;
      const named = Object.fromEntries(
        Object.entries(rest).map(([name, value]) => [name, (known as JsonObject)[name] ?? value]),
      );
      if (isValid(tool, named)) return named;
    }
    return undefined;
  };
  /** A request with an id at a place, that the schema allows; undefined where none is found. */
  const naming = (tool: string, base: JsonObject, place: IdPlace, id: string): JsonObject | undefined =>
    [withId(base, place, id), withId(base, place, id, sampler)].find((one) => isValid(tool, one));
  /** Without what this release has no place for; undefined where that is no request of its any more. */
  const fitted = (tool: string, request: JsonObject): JsonObject | undefined => {
    const schema = sampler.resolve(`/${release.tools[tool]!.request}`) as JsonObject;
    const own = isJsonObject(schema.properties) ? schema.properties : {};
    const left = Object.fromEntries(Object.entries(request).filter(([name]) => Object.hasOwn(own, name)));
    return [request, left].find((one) => isValid(tool, one));
  };
  /** With the account that the schema has a place for. */
  const named = (tool: string, request: JsonObject): JsonObject => {
    const schema = sampler.resolve(`/${release.tools[tool]!.request}`) as JsonObject;
    return isJsonObject(schema.properties) && "account" in schema.properties ? { ...request, account } : request;
  };
  const places = (tool: string, names: ReadonlySet<string>): IdPlace[] =>
    idPlaces(sampler, release.tools[tool]!.request, names);
  return { keyed, smallest, naming, places, fitted, named };
}
