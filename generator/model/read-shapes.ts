/** Every schema of a release -> its shape, once; and where each place that something refers to is. */

import type { SchemaFile } from "../load/closure.js";
import { splitRef } from "../load/closure.js";
import { atPointer, isMap, type Schema, walk } from "../load/walk.js";
import { discriminatorOf } from "./discriminator.js";
import { ShapeReader } from "./read-shape.js";
import type { Resolve, Shape, UnionShape } from "./shape.js";

export interface Shapes {
  /** Shape of a document, or of a place inside one that a reference or `places` names. */
  resolve: Resolve;
  /** Places inside documents that have a shape to be referred to, in code point order. */
  places: string[];
}

/**
 * @param schemas every schema by path, as `loadRelease` gives them
 * @param extra further places to give, `<path>#<pointer>`
 */
export function readShapes(
  schemas: ReadonlyMap<string, Pick<SchemaFile, "schema">>,
  extra: readonly string[] = [],
): Shapes {
  const wanted = new Set<string>(extra.filter((ref) => ref.includes("#")));
  for (const { schema } of schemas.values())
    walk(schema, ({ $ref }) => typeof $ref === "string" && $ref.includes("#") && wanted.add($ref.slice(1)));

  const target = (ref: string): Schema | undefined => {
    const { path, pointer } = splitRef(ref);
    const found = atPointer(schemas.get(path)?.schema ?? null, pointer);
    return isMap(found) || typeof found === "boolean" ? found : undefined;
  };
  const known = new Map<string, Shape>();
  const unions: UnionShape[] = [];
  const made = (shape: Shape): void => {
    if (wanted.has(shape.pointer) && !known.has(shape.pointer)) known.set(shape.pointer, shape);
    if (shape.kind === "union") unions.push(shape);
    else if (shape.kind === "all") for (const part of shape.parts) if (part.kind === "union") unions.push(part);
  };
  const reader = new ShapeReader({ target, made });
  for (const [path, { schema }] of schemas) known.set(path, reader.read(schema, path));
  // Below a keyword that is none of ours a schema may stand too, once something points at it.
  for (const ref of wanted) {
    const schema = known.has(ref) ? undefined : target(`/${ref}`);
    if (schema !== undefined) known.set(ref, reader.read(schema, ref));
  }
  const resolve: Resolve = (ref) => known.get(ref);
  for (const union of new Set(unions)) {
    const discriminator = discriminatorOf(union, resolve);
    if (discriminator !== undefined) union.discriminator = discriminator;
  }
  return { resolve, places: [...wanted].filter((ref) => known.has(ref)).sort() };
}
