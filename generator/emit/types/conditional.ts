/**
 * Names that only a condition declares: a property that comes with one value of another one. A type takes them, or what
 * the schema demands could not be written; what they hold differs with the value, which is for validators.
 */
import {
  type AllShape,
  type Condition,
  conjuncts,
  type Property,
  type Resolve,
  type Shape,
} from "../../model/shape.js";
import { isSilent } from "./reading.js";

/** Conditions of a shape, those of parts that a type says nothing else of among them. */
export const conditionsAround = (shape: Shape): Condition[] => [
  ...(shape.conditions ?? []),
  ...(shape.kind === "all" ? silentParts(shape).flatMap(conditionsAround) : []),
];

const silentParts = ({ parts }: AllShape): Shape[] =>
  parts.filter((part) => isSilent(part) && part.kind !== "reference");

/** Shapes that a condition adds to a value, where it holds or where it does not. */
function branchesOf(condition: Condition): Shape[] {
  if (condition.kind === "entails") return [condition.shape];
  if (condition.kind !== "if") return [];
  return [condition.whenTrue, condition.whenFalse].filter((shape) => shape !== undefined);
}

/** Every shape that may hold of the same value. */
function alternatives(shapes: readonly Shape[], resolve: Resolve, seen = new Set<Shape>()): Shape[] {
  return shapes
    .flatMap((shape) => conjuncts(shape, resolve, seen))
    .flatMap((shape) => [shape, ...(shape.kind === "union" ? alternatives(shape.members, resolve, seen) : [])]);
}

const propertiesOf = (shapes: readonly Shape[]): Property[] =>
  shapes.flatMap((shape) => (shape.kind === "object" ? shape.properties : []));

/**
 * @param whole all that holds of the value
 * @returns name -> the first that declares it
 */
export function conditionalNames(
  conditions: readonly Condition[],
  whole: readonly Shape[],
  resolve: Resolve,
): Map<string, Shape> {
  const found = new Map<string, Shape>();
  if (conditions.length === 0) return found;
  const said = alternatives(whole, resolve);
  if (said.some((shape) => (shape.kind === "object" || shape.kind === "map") && shape.openness === "closed"))
    return found;
  const known = new Set(propertiesOf(said).map(({ name }) => name));
  const pending = [...conditions];
  for (let condition = pending.shift(); condition !== undefined; condition = pending.shift()) {
    const inside = alternatives(branchesOf(condition), resolve);
    for (const { name, declared, shape } of propertiesOf(inside))
      if (declared && shape.kind !== "never" && !known.has(name) && !found.has(name)) found.set(name, shape);
    pending.push(...inside.flatMap((shape) => shape.conditions ?? []));
  }
  return found;
}
