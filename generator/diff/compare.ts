/** Two places, one of each release -> what changed in meaning, each once, the place nearest the root first. */
import type { Shape, UnionShape } from "../model/shape.js";
import type { Comparing, DiffPlace, ShapeChange } from "./change.js";
import { compareItems, compareNamed, compareOpenness, compareProperties } from "./compare-object.js";
import { compareConditions, compareUnions } from "./compare-union.js";
import { type Both, compareBounds, compareForms, compareKinds, compareValues } from "./compare-value.js";
import { type Flat, flatten } from "./flat.js";
import type { Forms } from "./form.js";
import { leavesOf, type ShapePart } from "./part.js";

/** A place without alternatives, beside one with them, is an alternative of one. */
function asUnion(parts: readonly ShapePart[]): { union: UnionShape; of: ShapePart["of"] } {
  const [first] = parts as readonly [ShapePart, ...ShapePart[]];
  const shapes = leavesOf(parts)
    .map(({ shape }) => shape)
    .filter(({ kind }) => kind !== "reference" && kind !== "all");
  const { pointer } = first.shape;
  const member: Shape = shapes.length === 1 ? shapes[0]! : { kind: "all", pointer, parts: shapes };
  return { union: { kind: "union", pointer, mode: "any", members: [member] }, of: first.of };
}

/** A place that is nothing but alternatives of kinds or values. */
const onlyAlternatives = ({ unions, kinds, properties, values }: Flat): boolean =>
  unions.length === 1 && kinds === undefined && properties.size === 0 && values === undefined;

const plain = ({ unions, kinds, values }: Flat): boolean =>
  unions.length === 0 && (kinds !== undefined || values !== undefined);

function comparePlace(place: DiffPlace, comparing: Comparing): void {
  const [a, b] = [flatten(place.a), flatten(place.b)];
  const both: Both = { a, b, place };
  if (plain(a) && onlyAlternatives(b)) {
    compareUnions({ ...both, a: { ...emptied(a), unions: [asUnion(place.a)] } }, comparing);
    return;
  }
  if (onlyAlternatives(a) && plain(b)) {
    compareUnions({ ...both, b: { ...emptied(b), unions: [asUnion(place.b)] } }, comparing);
    return;
  }
  // Alternatives say their kinds themselves.
  const alternatives = onlyAlternatives(a) && onlyAlternatives(b);
  if (!alternatives && !compareKinds(both, comparing)) return;
  compareValues(both, comparing);
  compareBounds(both, comparing);
  compareForms(both, comparing);
  compareProperties(both, comparing);
  compareOpenness(both, comparing);
  compareNamed(both, comparing);
  compareItems(both, comparing);
  compareUnions(both, comparing);
  compareConditions(both, comparing);
}

const emptied = (flat: Flat): Flat => ({ ...flat, unions: [] });

/** The alternatives that a list of types gives stand where the whole does: the kind tells them from it. */
const keyOf = ({ a, b }: DiffPlace): string =>
  [a, b].map((parts) => parts.map(({ shape }) => `${shape.kind} ${shape.pointer}`).join()).join("|");

/**
 * Compares two places and all below them.
 * @param forms shared by all comparisons of two releases: what is equal is looked into once
 */
export function compare(a: ShapePart, b: ShapePart, forms: Forms): ShapeChange[] {
  const found: ShapeChange[] = [];
  const pending: DiffPlace[] = [{ a: [a], b: [b], at: [], choices: new Map(), exclusive: false }];
  const seen = new Set<string>();
  const told = new Set<string>();
  const comparing: Comparing = {
    forms,
    add: (change) => {
      const key = [change.rule, change.pointerA, change.pointerB, change.message].join("\n");
      if (told.has(key)) return;
      told.add(key);
      found.push(change);
    },
    enter: (place) => pending.push(place),
  };
  for (let next = 0; next < pending.length; next++) {
    const place = pending[next]!;
    const key = keyOf(place);
    if (seen.has(key) || forms.of(place.a) === forms.of(place.b)) continue;
    seen.add(key);
    comparePlace(place, comparing);
  }
  return found;
}
