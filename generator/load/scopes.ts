/** What references mean where they stand: the ids around them, and the names that schemas give themselves. */
import { pointer } from "../finding.js";
import { absolute } from "./prefixes.js";
import { eachChild, isMap, type JsonMap, type Place, pathOf, type Schema } from "./walk.js";

/** A document: a file, or what has an id of its own inside of one. */
export interface Home {
  readonly path: string;
  /** Pointer of the schema that is the whole of it. */
  readonly top: string;
}

export interface Scope {
  /** Id that relative references resolve against. */
  base: string;
  /** Pointer of the schema that `#` means. */
  top: string;
}

/** `walk`, following nested `$id`s: inside one, `#` means that schema (draft-07, section 8.2). */
export function walkBases(
  schema: Schema,
  place: Place | undefined,
  scope: Scope,
  visit: (schema: JsonMap, place: Place | undefined, scope: Scope) => void,
): void {
  if (!isMap(schema)) return;
  const id = place === undefined ? undefined : schema.$id;
  const inner =
    typeof id === "string" && !id.startsWith("#")
      ? { base: absolute(id, scope.base) ?? scope.base, top: pointer(...pathOf(place)) }
      : scope;
  visit(schema, place, inner);
  eachChild(schema, (child, keyword, name) => walkBases(child, { up: place, keyword, name }, inner, visit));
}

export const decode = (fragment: string): string => {
  if (!fragment.includes("%")) return fragment;
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
};

/** Names a schema gives itself inside its document: `$anchor`, `$dynamicAnchor`, and draft-07's `$id: "#name"`. */
export const anchorsOf = ({ $anchor, $dynamicAnchor, $id }: JsonMap): string[] => {
  const old = typeof $id === "string" && $id.startsWith("#") ? $id.slice(1) : undefined;
  return [$anchor, $dynamicAnchor, old].filter((name) => typeof name === "string");
};

/** The place a JSON pointer leads to. */
export const placeAt = (at: string): Place | undefined =>
  at
    .split("/")
    .slice(1)
    .reduce<Place | undefined>(
      (up, token) => ({ up, keyword: token.replaceAll("~1", "/").replaceAll("~0", "~"), name: undefined }),
      undefined,
    );
