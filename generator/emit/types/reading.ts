/** Questions about shapes that decide how a type is written. */
import {
  type AllShape,
  type Condition,
  conjuncts,
  type Openness,
  type Property,
  type Resolve,
  type Shape,
} from "../../model/shape.js";

/** Shapes that hold of the same value, innermost first: an undeclared name is looked up in them. */
export type Context = readonly Shape[];

/** An object says what it holds beside its properties, or by pattern. */
export const isTypedMap = ({ rest, patterns }: Openness): boolean => rest !== undefined || patterns !== undefined;

/** Names that one negative condition keeps out: `not: {required: [a]}`, and any of several such. */
function forbiddenBy(shape: Shape): string[] {
  if (shape.kind === "union") {
    const each = shape.members.map(forbiddenBy);
    return each.flat();
  }
  if (shape.kind !== "object" || shape.properties.length !== 1 || shape.conditions !== undefined) return [];
  const [{ name, required, shape: held }] = shape.properties as [Property];
  return required && held.kind === "any" && held.conditions === undefined ? [name] : [];
}

/** Names a value of the shape may not have. */
export const forbidden = ({ conditions }: { conditions?: Condition[] }): string[] => [
  ...new Set((conditions ?? []).flatMap((one) => (one.kind === "not" ? forbiddenBy(one.shape) : []))),
];

/** A type says nothing of it: what it demands is for validators. */
export function isSilent(shape: Shape): boolean {
  if (forbidden(shape).length > 0) return false;
  switch (shape.kind) {
    case "any":
      return true;
    case "map":
      return shape.openness === "open" && !isTypedMap(shape);
    case "scalar":
      return shape.lenient === true;
    case "array":
      return shape.lenient === true && isSilent(shape.items);
    case "object":
      return (
        shape.openness === "open" &&
        !isTypedMap(shape) &&
        shape.properties.every((property) => !property.required && isSilent(property.shape))
      );
    case "union":
      return shape.members.some(isSilent);
    case "all":
      return shape.parts.every(isSilent);
    case "tuple":
    case "never":
    case "enum":
    case "const":
    case "reference":
      return false;
  }
}

/** The kind of value that a shape speaks of and leaves the others alone; undefined where it is for every value. */
function lenientKind(shape: Shape): "object" | "array" | undefined {
  if (shape.kind === "any") return forbidden(shape).length > 0 ? "object" : undefined;
  if (shape.kind === "union") {
    const [kind, ...more] = new Set(shape.members.map(lenientKind));
    return more.length === 0 ? kind : undefined;
  }
  if (shape.lenient !== true) return undefined;
  if (shape.kind === "object" || shape.kind === "map") return "object";
  return shape.kind === "array" || shape.kind === "tuple" ? "array" : undefined;
}

/**
 * Kinds that a value may be of beside the one that a part of an `all` speaks of: a type must take these too, where another
 * part lists several kinds.
 */
export function kindsBeside({ parts }: AllShape, part: Shape): string[] {
  const spoken = lenientKind(part);
  if (spoken === undefined) return [];
  const lists = parts.flatMap((one) =>
    one.kind === "union" && lenientKind(one) === undefined ? [one.members.flatMap(kindsOf)] : [],
  );
  const [kinds = []] = lists;
  return kinds.filter((kind) => kind !== spoken && lists.every((list) => list.includes(kind)));
}

function kindsOf(shape: Shape): string[] {
  if (shape.lenient === true) return [];
  if (shape.kind === "scalar") return shape.types;
  if (shape.kind === "object" || shape.kind === "map") return ["object"];
  return shape.kind === "array" || shape.kind === "tuple" ? ["array"] : [];
}

/** Longest chain of references followed; a longer one is a loop. */
const MAX_DEPTH = 64;

/** A value of the shape may be null. */
export function takesNull(shape: Shape, resolve: Resolve, depth = 0): boolean {
  const inner = (one: Shape): boolean => takesNull(one, resolve, depth + 1);
  switch (shape.kind) {
    case "any":
      return true;
    case "scalar":
      return shape.lenient === true || shape.types.includes("null");
    case "const":
      return shape.value === null;
    case "enum":
      return shape.values.includes(null);
    case "union":
      return shape.members.some(inner);
    case "all":
      return shape.parts.every(inner);
    case "reference": {
      const target = resolve(shape.to);
      return target !== undefined && depth < MAX_DEPTH && inner(target);
    }
    case "object":
    case "map":
    case "array":
    case "tuple":
      return shape.lenient === true;
    case "never":
      return false;
  }
}

/** Listed values are the type: what is said beside them of one kind alone can only refuse some. */
export const partsOfType = ({ parts }: AllShape): Shape[] =>
  parts.some(({ kind }) => kind === "enum" || kind === "const") ? parts.filter(({ lenient }) => !lenient) : parts;

/** Parts of an `all` that a type has something of. */
export const essentialParts = (shape: AllShape): Shape[] => partsOfType(shape).filter((part) => !isSilent(part));

/** Where a context declares a property, innermost first. */
export function declaredIn(context: Context, name: string, resolve: Resolve): Property[] {
  const seen = new Set<Shape>();
  return context
    .flatMap((shape) => conjuncts(shape, resolve, seen))
    .flatMap((shape) =>
      shape.kind === "object" ? shape.properties.filter((one) => one.declared && one.name === name) : [],
    );
}

/** What holds of a list's elements, where the context holds of the list. */
export const elementsOf = (context: Context, resolve: Resolve): Shape[] =>
  context
    .flatMap((shape) => conjuncts(shape, resolve))
    .flatMap((shape) => (shape.kind === "array" && !isSilent(shape.items) ? [shape.items] : []));

/** It only refines what the context declares: names without a declaration, values, negatives; no type of its own. */
export function isRefinement(shape: Shape, context: Context, resolve: Resolve): boolean {
  if (shape.kind === "any") return true;
  if (shape.kind === "all") return shape.parts.every((part) => isRefinement(part, context, resolve));
  if (shape.kind === "union") return shape.members.every((member) => isRefinement(member, context, resolve));
  if (shape.kind !== "object" || shape.openness === "closed" || isTypedMap(shape)) return false;
  return shape.properties.every(
    ({ name, declared }) => !declared || declaredIn(context, name, resolve).some(({ shape: other }) => other !== shape),
  );
}
