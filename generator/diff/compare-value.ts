/** Kinds, listed values, bounds, patterns and formats of one place. */
import type { Json } from "../model/shape.js";
import {
  type Attempt,
  type ChangeClaim,
  type Comparing,
  contained,
  type DiffPlace,
  listed,
  type ShapeChange,
} from "./change.js";
import { type Bound, coversKind, type Flat, kinds, lower, same, type ValueKind } from "./flat.js";
import { pointerOf, type ShapePart } from "./part.js";
import type { RuleId } from "./rules.js";
import { sample } from "./sample.js";
import { odd } from "./texts.js";

/** The two tables of a place. */
export interface Both {
  readonly a: Flat;
  readonly b: Flat;
  readonly place: DiffPlace;
}

type Said = Pick<ShapeChange, "rule" | "message" | "forward" | "backward">;

export function tell({ place }: Both, comparing: Comparing, said: Said): void {
  comparing.add({ ...said, place, pointerA: pointerOf(place.a), pointerB: pointerOf(place.b) });
}

/** Made one by one, as the first that shows a change ends the search. */
export function* tryingValues(values: Iterable<Json>): Generator<Attempt> {
  for (const value of values) yield { kind: "value", value };
}

/** Values of all sorts that a place gives: small, full, with each alternative. */
export function* samplesOf(parts: readonly ShapePart[], turns = 6): Generator<Json> {
  const made = new Set<string>();
  for (let turn = 0; turn < turns; turn++) {
    for (const full of [0, 1, 2]) {
      const value = sample(parts, { turn, full });
      const text = JSON.stringify(value);
      if (made.has(text)) continue;
      made.add(text);
      yield value;
    }
  }
}

/** One after the other. */
export function* oneByOne<T>(...lists: readonly Iterable<T>[]): Generator<T> {
  for (const list of lists) yield* list;
}

/** What may show that the one side allows what the other does not. */
export const probing = (parts: readonly ShapePart[]): ChangeClaim => ({
  tries: () => tryingValues(oneByOne(samplesOf(parts), stray)),
});

/** Values of every kind. */
const stray: readonly Json[] = ["no such text", 1.5, 7, -1, true, null, [], {}, "", { unheard_of: 1 }];

const kindsOf = (flat: Flat): Set<ValueKind> => flat.kinds ?? new Set(kinds);

const missingIn = (flat: Flat, other: Flat): ValueKind[] =>
  [...kindsOf(flat)].filter((kind) => !coversKind(kindsOf(other), kind));

const ofKind = (parts: readonly ShapePart[], gone: readonly ValueKind[]): ChangeClaim => ({
  tries: () =>
    tryingValues(
      gone.flatMap((kind) => [
        ...(kind === "number" ? [1.5, 0.5, 2.5] : []),
        ...[0, 1, 2].flatMap((turn) => [sample(parts, { kind, turn }), sample(parts, { kind, turn, full: 1 })]),
      ]),
    ),
});

/** @returns whether the two have a kind in common, so that more can be said */
export function compareKinds(both: Both, comparing: Comparing): boolean {
  const { a, b, place } = both;
  if (a.never !== b.never) {
    const open = a.never ? place.b : place.a;
    tell(both, comparing, {
      rule: b.never ? "value-forbidden" : "value-allowed",
      message: b.never ? "no value is allowed here any more" : "a value is allowed here now",
      forward: b.never ? probing(open) : contained,
      backward: a.never ? probing(open) : contained,
    });
    return false;
  }
  if (a.never) return false;
  // Listed values say their kinds themselves; alternatives are compared as such.
  if (a.values !== undefined && b.values !== undefined) return true;
  const [lost, won] = [missingIn(a, b), missingIn(b, a)];
  if (lost.length === 0 && won.length === 0) return true;
  const rule: RuleId = won.length === 0 ? "type-narrowed" : lost.length === 0 ? "type-widened" : "type-changed";
  tell(both, comparing, {
    rule,
    message: `${kindText(a)} -> ${kindText(b)}`,
    forward: lost.length === 0 ? contained : ofKind(place.a, lost),
    backward: won.length === 0 ? contained : ofKind(place.b, won),
  });
  return (
    [...kindsOf(a)].some((kind) => coversKind(kindsOf(b), kind)) ||
    [...kindsOf(b)].some((kind) => coversKind(kindsOf(a), kind))
  );
}

const kindText = ({ kinds: some }: Flat): string =>
  some === undefined ? "any value" : [...some].sort().join(" or ") || "no value";

export function compareValues(both: Both, comparing: Comparing): void {
  const { a, b, place } = both;
  if (a.values === undefined && b.values === undefined) return;
  if (a.values === undefined || b.values === undefined) {
    const closed = a.values === undefined;
    const free = closed ? place.a : place.b;
    const claim: ChangeClaim = { tries: () => tryingValues(oneByOne(samplesOf(free), odd, stray)) };
    tell(both, comparing, {
      rule: closed ? "values-listed" : "values-unlisted",
      message: closed ? `only ${listed(b.values!)} now` : `any value now, ${listed(a.values!)} before`,
      forward: closed ? claim : contained,
      backward: closed ? contained : claim,
    });
    return;
  }
  const gone = a.values.filter((one) => !b.values!.some((two) => same(one, two)));
  const fresh = b.values.filter((one) => !a.values!.some((two) => same(one, two)));
  if (gone.length === 0 && fresh.length === 0) return;
  if (a.values.length === 1 && b.values.length === 1) {
    tell(both, comparing, {
      rule: "const-changed",
      message: `${listed(a.values)} -> ${listed(b.values)}`,
      forward: { tries: () => tryingValues(gone) },
      backward: { tries: () => tryingValues(fresh) },
    });
    return;
  }
  if (gone.length > 0)
    tell(both, comparing, {
      rule: "enum-value-removed",
      message: `${listed(gone)} removed`,
      forward: { tries: () => tryingValues(gone) },
      backward: contained,
    });
  if (fresh.length > 0)
    tell(both, comparing, {
      rule: "enum-value-added",
      message: `${listed(fresh)} added`,
      forward: contained,
      backward: { tries: () => tryingValues(fresh) },
    });
}

/** Values at both sides of two bounds. */
function atBounds(bound: Bound, limits: readonly number[], parts: readonly ShapePart[]): Iterable<Json> {
  const near = limits.flatMap((limit) => [limit, limit - 1, limit + 1]).filter((one) => one <= 20_000);
  if (bound.endsWith("imum"))
    return [...near, ...limits.map((limit) => limit + 0.5), ...limits.map((limit) => limit - 0.01)];
  const sizes = [...new Set(near.map(Math.trunc))].filter((one) => one >= 0);
  if (bound.endsWith("Length"))
    return sizes.flatMap((size) => {
      const text = sample(parts, { kind: "string" });
      const base = typeof text === "string" ? text : "";
      return [base.padEnd(size, base.slice(-1) || "a").slice(0, size), "a".repeat(size)];
    });
  if (bound.endsWith("Items")) return sizes.filter((size) => size <= 1000).map((size) => listOf(parts, size));
  return oneByOne([{}], samplesOf(parts));
}

function listOf(parts: readonly ShapePart[], size: number): Json {
  const items = Array.from({ length: size }, (_, turn) => {
    const one = sample(parts, { kind: "array", full: 1, turn });
    return Array.isArray(one) && one.length > 0 ? one[0]! : turn;
  });
  return items;
}

export function compareBounds(both: Both, comparing: Comparing): void {
  const { a, b, place } = both;
  for (const bound of new Set([...a.bounds.keys(), ...b.bounds.keys()])) {
    const [from, to] = [a.bounds.get(bound), b.bounds.get(bound)];
    if (from === to) continue;
    const least = (lower as readonly string[]).includes(bound);
    const narrower = from === undefined || (to !== undefined && (least ? to > from : to < from));
    const limits = [from, to].filter((one) => one !== undefined);
    const claim: ChangeClaim = { tries: () => tryingValues(atBounds(bound, limits, narrower ? place.a : place.b)) };
    tell(both, comparing, {
      rule: narrower ? "bound-narrowed" : "bound-widened",
      message: `${bound} ${from ?? "none"} -> ${to ?? "none"}`,
      forward: narrower ? claim : contained,
      backward: narrower ? contained : claim,
    });
  }
  if (a.unique !== b.unique) {
    const claim: ChangeClaim = {
      tries: () => {
        const [one] = listOf(b.unique ? place.a : place.b, 1) as Json[];
        return tryingValues([[one!, one!]]);
      },
    };
    tell(both, comparing, {
      rule: b.unique ? "bound-narrowed" : "bound-widened",
      message: b.unique ? "items must differ now" : "items may be alike now",
      forward: b.unique ? claim : contained,
      backward: b.unique ? contained : claim,
    });
  }
}

/** Two sets of demands of which all hold: patterns, formats, steps of numbers. */
export function compareForms(both: Both, comparing: Comparing): void {
  const { a, b, place } = both;
  const each = [
    ["pattern", a.patterns, b.patterns],
    ["format", a.formats, b.formats],
    ["step", a.multiples, b.multiples],
  ] as const;
  for (const [word, before, now] of each) {
    const gone = [...before].filter((one) => !(now as ReadonlySet<string | number>).has(one));
    const fresh = [...now].filter((one) => !(before as ReadonlySet<string | number>).has(one));
    if (gone.length === 0 && fresh.length === 0) continue;
    const how = gone.length === 0 ? "added" : fresh.length === 0 ? "removed" : "changed";
    const claim = (parts: readonly ShapePart[]): ChangeClaim => ({
      tries: () => tryingValues(oneByOne(samplesOf(parts), odd, samplesOf([...place.a, ...place.b]), [1.5, 0.25, 7])),
    });
    tell(both, comparing, {
      rule: `${word}-${how}`,
      message:
        gone.length === 0
          ? listed(fresh)
          : fresh.length === 0
            ? `${listed(gone)} no more`
            : `${listed(gone)} -> ${listed(fresh)}`,
      forward: fresh.length === 0 ? contained : claim(place.a),
      backward: gone.length === 0 ? contained : claim(place.b),
    });
  }
}
