/** Which property tells the members of a union apart. */
import { conjuncts, type Discriminator, type Json, type Resolve, type Shape, type UnionShape } from "./shape.js";

/** Values a shape allows where it lists them; undefined when it is open. Parts of an `all` narrow each other. */
export function listedValues(shape: Shape, resolve: Resolve, depth = 0): Json[] | undefined {
  if (depth > MAX_DEPTH) return undefined;
  if (shape.kind === "const") return [shape.value];
  if (shape.kind === "enum") return shape.values;
  if (shape.kind === "reference") {
    const target = resolve(shape.to);
    return target === undefined ? undefined : listedValues(target, resolve, depth + 1);
  }
  if (shape.kind === "union") {
    const each = shape.members.map((member) => listedValues(member, resolve, depth + 1));
    return each.every((one) => one !== undefined) ? each.flat() : undefined;
  }
  if (shape.kind !== "all") return undefined;
  const sets = shape.parts
    .map((part) => listedValues(part, resolve, depth + 1))
    .filter((one): one is Json[] => one !== undefined);
  return sets.length === 0 ? undefined : sets.reduce((least, one) => (one.length < least.length ? one : least));
}

/** Deepest chain of references followed; a longer one is a loop. */
const MAX_DEPTH = 64;

/** The least a shape allows of each property it requires, where it lists the values. */
function requiredValues(shape: Shape, resolve: Resolve): Map<string, Json[]> {
  const values = new Map<string, Json[]>();
  const required = new Set<string>();
  for (const part of conjuncts(shape, resolve)) {
    if (part.kind !== "object") continue;
    for (const property of part.properties) {
      if (property.required) required.add(property.name);
      const listed = property.declared ? listedValues(property.shape, resolve) : undefined;
      const known = values.get(property.name);
      if (listed !== undefined && (known === undefined || listed.length < known.length))
        values.set(property.name, listed);
    }
  }
  return new Map([...values].filter(([name]) => required.has(name)));
}

const isScalar = (value: Json): boolean => typeof value !== "object" || value === null;

/** The first property, by name, that every member requires with values no other member has. */
export function discriminatorOf({ members }: UnionShape, resolve: Resolve): Discriminator | undefined {
  if (members.length < 2) return undefined;
  const each = members.map((member) => requiredValues(member, resolve));
  const shared = [...each[0]!.keys()].filter((name) => each.every((values) => values.has(name))).sort();
  for (const property of shared) {
    const values = each.map((one) => one.get(property)!);
    const all = values.flat();
    if (all.every(isScalar) && new Set(all).size === all.length) return { property, values };
  }
  return undefined;
}
