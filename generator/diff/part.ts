/** What a place demands of a value: shapes of one release or of two, taken together. */
import { conjuncts, type Resolve, type Shape } from "../model/shape.js";

/** A shape, and the release that its references lead into. */
export interface ShapePart {
  readonly shape: Shape;
  readonly of: Resolve;
}

/** Shapes that say something themselves: references followed, everything an `all` holds set side by side. */
export function leavesOf(parts: readonly ShapePart[]): ShapePart[] {
  const seen = new Map<Resolve, Set<Shape>>();
  return parts.flatMap(({ shape, of }) => {
    const known = seen.get(of) ?? new Set<Shape>();
    seen.set(of, known);
    return conjuncts(shape, of, known).map((one) => ({ shape: one, of }));
  });
}

/** Where the last reference of a place leads: the place a person looks at. */
export function pointerOf(parts: readonly ShapePart[]): string {
  const [first] = parts;
  if (first === undefined) return "";
  const leaf = leavesOf([first]).find(({ shape }) => shape.kind !== "reference" && shape.kind !== "all");
  return (leaf ?? first).shape.pointer;
}
