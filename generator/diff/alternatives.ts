/** The forms that a value may have at a place: which they are, and which became which. */
import type { Shape, UnionShape } from "../model/shape.js";
import { flatten, same } from "./flat.js";
import type { Forms } from "./form.js";
import { leavesOf, type ShapePart } from "./part.js";

/** One form, and the alternatives that are taken on the way to it. */
export interface Alternative {
  readonly part: ShapePart;
  readonly choices: readonly (readonly [UnionShape, number])[];
}

/** Alternatives inside alternatives that are gone through. */
const DEEPEST = 3;

const known = new WeakMap<UnionShape, readonly Alternative[]>();

/** Forms of a union; a form that is alternatives itself and no more counts as those. */
export function alternativesOf(union: UnionShape, of: ShapePart["of"], depth = 0): readonly Alternative[] {
  const found =
    known.get(union) ??
    union.members.flatMap((shape, index) =>
      formsOf(shape, of, depth).map(
        ({ part, choices }): Alternative => ({ part, choices: [[union, index], ...choices] }),
      ),
    );
  known.set(union, found);
  return found;
}

function formsOf(shape: Shape, of: ShapePart["of"], depth: number): readonly Alternative[] {
  const part: ShapePart = { shape, of };
  const inner = depth < DEEPEST ? onlyUnionOf(part) : undefined;
  if (inner === undefined) return [{ part, choices: [] }];
  const beside = leavesOf([part])
    .map((leaf) => leaf.shape)
    .filter((one) => one !== inner.union && one.kind !== "reference" && one.kind !== "all");
  const whole = (member: ShapePart): ShapePart =>
    beside.length === 0
      ? member
      : { shape: { kind: "all", pointer: member.shape.pointer, parts: [...beside, member.shape] }, of };
  return alternativesOf(inner.union, inner.of, depth + 1).map((one) => ({ ...one, part: whole(one.part) }));
}

/** The union that a form is, where it says nothing else but of which kind it is. */
function onlyUnionOf(part: ShapePart): { union: UnionShape; of: ShapePart["of"] } | undefined {
  const { unions, properties, values, conditions, items, tuples, named, rests, never } = flatten([part]);
  const plain = properties.size + conditions.length + items.length + tuples.length + named.size + rests.length === 0;
  const [only] = unions;
  return plain && !never && values === undefined && unions.length === 1 ? only : undefined;
}

/** What an alternative is known by beside its meaning: constants, then names. */
function likeness(a: ShapePart, b: ShapePart): number {
  const [one, two] = [flatten([a]), flatten([b])];
  let score = 0;
  for (const [name, { parts, required }] of one.properties) {
    const other = two.properties.get(name);
    if (other === undefined) continue;
    score += required && other.required ? 2 : 1;
    const [mine, theirs] = [flatten(parts).values, flatten(other.parts).values];
    if (mine?.length !== 1 || theirs?.length !== 1) continue;
    if (!same(mine[0]!, theirs[0]!)) return 0;
    score += 20;
  }
  const title = (part: ShapePart): string | undefined =>
    leavesOf([part]).find(({ shape }) => shape.title !== undefined)?.shape.title;
  if (title(a) !== undefined && title(a) === title(b)) score += 10;
  const kinds = (flat: typeof one): string => JSON.stringify([...(flat.kinds ?? [])].sort());
  if (one.properties.size === 0 && two.properties.size === 0 && kinds(one) === kinds(two)) score += 5;
  return score;
}

export interface MatchedForms {
  pairs: [a: number, b: number][];
  gone: number[];
  fresh: number[];
}

/** Which alternative became which: those of one meaning first, then the likest. */
export function matchForms(before: readonly ShapePart[], now: readonly ShapePart[], forms: Forms): MatchedForms {
  const [left, right] = [new Set(before.keys()), new Set(now.keys())];
  const pairs: [number, number][] = [];
  const take = (a: number, b: number): void => {
    pairs.push([a, b]);
    left.delete(a);
    right.delete(b);
  };
  for (const a of [...left]) {
    const twin = [...right].find((b) => forms.of([before[a]!]) === forms.of([now[b]!]));
    if (twin !== undefined) take(a, twin);
  }
  const ranked = [...left]
    .flatMap((a) => [...right].map((b) => ({ a, b, score: likeness(before[a]!, now[b]!) })))
    .filter(({ score }) => score > 0)
    .sort((one, two) => two.score - one.score);
  for (const { a, b } of ranked) if (left.has(a) && right.has(b)) take(a, b);
  return { pairs, gone: [...left], fresh: [...right] };
}

/** What a person calls a form. @param index from 0, where nothing else tells */
export function formName(part: ShapePart, index: number): string {
  const flat = flatten([part]);
  const title = leavesOf([part]).find(({ shape }) => shape.title !== undefined)?.shape.title;
  if (title !== undefined) return JSON.stringify(title);
  for (const [name, { parts }] of flat.properties) {
    const values = flatten(parts).values;
    if (values?.length === 1) return `with ${name} ${JSON.stringify(values[0])}`;
  }
  const required = [...flat.properties].filter(([, { required }]) => required).map(([name]) => name);
  if (required.length > 0) return `with ${required.slice(0, 3).join(", ")}`;
  return flat.kinds === undefined ? `${index + 1}` : `of ${[...flat.kinds].join(" or ")}`;
}
