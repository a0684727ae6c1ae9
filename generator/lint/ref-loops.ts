import { type Found, pointer } from "../finding.js";
import { splitRef } from "../load/closure.js";
import type { LoadedRelease } from "../load/load.js";
import { atPointer, isMap, type JsonMap, pathOf, type Schema, walk } from "../load/walk.js";

/** Schemas that are nothing but references to each other: no value is valid or invalid by them. */
export function refLoops({ schemas }: LoadedRelease): Found[] {
  const target = (ref: string): Schema | undefined => {
    const { path, pointer: at } = splitRef(ref);
    return atPointer(schemas.get(path)?.schema ?? null, at) as Schema | undefined;
  };
  const found: Found[] = [];
  const safe = new Set<JsonMap>();
  for (const { path, schema } of schemas.values()) {
    walk(schema, (start, place) => {
      const chain = new Set<JsonMap>();
      let at: Schema | undefined = start;
      while (isMap(at) && typeof at.$ref === "string" && !safe.has(at) && !chain.has(at)) {
        chain.add(at);
        at = target(at.$ref);
      }
      if (isMap(at) && chain.has(at)) {
        found.push({
          file: path,
          pointer: pointer(...pathOf(place), "$ref"),
          message: "the reference leads back to itself",
          remedy: "Point it at a schema.",
        });
      } else for (const one of chain) safe.add(one);
    });
  }
  return found;
}
