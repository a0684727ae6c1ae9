/** Names of an object, what it is closed to, and items of a list. */
import type { Json } from "../model/shape.js";
import {
  type Attempt,
  type ChangeClaim,
  type Comparing,
  contained,
  type DiffPlace,
  type ShapeChange,
  STRANGER,
} from "./change.js";
import { type Both, oneByOne, probing, samplesOf, tell, tryingValues } from "./compare-value.js";
import { type Flat, type FlatProperty, flatten, restOf, takesAnything } from "./flat.js";
import { pointerOf, type ShapePart } from "./part.js";
import type { ValueStep } from "./sample.js";
import { textsFor } from "./texts.js";

/** Junk of every kind: one of them is not what a name is declared to hold. */
const junk: readonly Json[] = [7, "no such text", true, null, [], {}, [7], 1.5, { unheard_of: 1 }];

function* put(name: string, values: Iterable<Json>): Generator<Attempt> {
  for (const value of values) yield { kind: "put", name, value };
}

const placeInside = (place: DiffPlace, inner: { a: ShapePart[]; b: ShapePart[]; step: ValueStep }): DiffPlace => ({
  ...place,
  a: inner.a,
  b: inner.b,
  at: [...place.at, inner.step],
});

/** What the release that does not declare a name says of it. */
interface OneSided {
  readonly name: string;
  readonly property: FlatProperty;
  /** The side that does not declare it. */
  readonly without: Flat;
}

/** Values of the side that declares a name, before the side that does not. */
function withName({ name, property, without }: OneSided): ChangeClaim {
  if (flatten(property.parts).never) return contained;
  const rest = restOf(without, name);
  if (!rest.closed && rest.parts.length === 0) return contained;
  return { tries: () => put(name, samplesOf(property.parts)) };
}

/** Values of the side that does not declare a name, before the side that does. */
function withoutName({ name, property, without }: OneSided): ChangeClaim {
  if (property.required) return { tries: () => [{ kind: "drop", name }] };
  const rest = restOf(without, name);
  if (rest.closed || takesAnything(flatten(property.parts))) return contained;
  return { tries: () => put(name, oneByOne(junk, samplesOf(rest.parts))), undeclared: true };
}

function oneSided(both: Both, name: string, added: boolean): Omit<ShapeChange, "place"> {
  const { a, b, place } = both;
  const property = (added ? b : a).properties.get(name)!;
  const side: OneSided = { name, property, without: added ? a : b };
  const [has, has_not] = [withName(side), withoutName(side)];
  const rule = added
    ? property.required
      ? "required-property-added"
      : "property-added"
    : property.required
      ? "required-property-removed"
      : "property-removed";
  const twin = renamed(both, name, added);
  return {
    rule,
    pointerA: added ? pointerOf(place.a) : pointerOf(property.parts),
    pointerB: added ? pointerOf(property.parts) : pointerOf(place.b),
    message: `${property.required ? "required " : ""}${JSON.stringify(name)} ${added ? "added" : "removed"}${twin === undefined ? "" : `; perhaps ${added ? "a new name of" : "now"} ${JSON.stringify(twin)}`}`,
    forward: added ? has_not : has,
    backward: added ? has : has_not,
  };
}

/** The one name on the other side that only it has, is as demanded, and holds what is of the same kinds. */
function renamed({ a, b }: Both, name: string, added: boolean): string | undefined {
  const [own, other] = added ? [b, a] : [a, b];
  const property = own.properties.get(name)!;
  const alike = [...other.properties].filter(
    ([twin, held]) =>
      !own.properties.has(twin) && held.required === property.required && held.declared && sameKinds(held, property),
  );
  const back = [...own.properties].filter(
    ([twin, held]) => !other.properties.has(twin) && held.required === property.required && sameKinds(held, property),
  );
  return alike.length === 1 && back.length === 1 ? alike[0]![0] : undefined;
}

const kindsText = ({ parts }: FlatProperty): string => JSON.stringify([...(flatten(parts).kinds ?? [])].sort());
const sameKinds = (one: FlatProperty, two: FlatProperty): boolean => kindsText(one) === kindsText(two);

export function compareProperties(both: Both, comparing: Comparing): void {
  const { a, b, place } = both;
  for (const [name, before] of a.properties) {
    const now = b.properties.get(name);
    if (now === undefined) {
      comparing.add({ ...oneSided(both, name, false), place });
      continue;
    }
    if (before.required !== now.required)
      comparing.add({
        rule: now.required ? "property-required" : "property-optional",
        place,
        pointerA: pointerOf(before.parts),
        pointerB: pointerOf(now.parts),
        message: `${JSON.stringify(name)} is ${now.required ? "required" : "optional"} now`,
        forward: now.required ? { tries: () => [{ kind: "drop", name }] } : contained,
        backward: now.required ? contained : { tries: () => [{ kind: "drop", name }] },
      });
    if (before.deprecated !== now.deprecated)
      comparing.add({
        rule: "property-deprecated",
        place,
        pointerA: pointerOf(before.parts),
        pointerB: pointerOf(now.parts),
        message: `${JSON.stringify(name)} is ${now.deprecated ? "deprecated" : "no longer deprecated"}`,
        forward: contained,
        backward: contained,
      });
    comparing.enter(placeInside(place, { a: before.parts, b: now.parts, step: { name } }));
  }
  for (const name of b.properties.keys())
    if (!a.properties.has(name)) comparing.add({ ...oneSided(both, name, true), place });
}

export function compareOpenness(both: Both, comparing: Comparing): void {
  const { a, b, place } = both;
  const [before, now] = [restOf(a, STRANGER), restOf(b, STRANGER)];
  const strange: ChangeClaim = { tries: () => put(STRANGER, junk), undeclared: true };
  if (before.closed !== now.closed) {
    tell(both, comparing, {
      rule: now.closed ? "object-closed" : "object-opened",
      message: now.closed
        ? "names that it does not declare are refused now"
        : "names that it does not declare are accepted now",
      forward: now.closed ? strange : contained,
      backward: now.closed ? contained : strange,
    });
    return;
  }
  if (before.closed) return;
  const [had, has] = [comparing.forms.of(before.parts), comparing.forms.of(now.parts)];
  if (had === has) return;
  if (before.parts.length > 0 && now.parts.length > 0) {
    comparing.enter(placeInside(place, { a: before.parts, b: now.parts, step: { name: STRANGER } }));
    return;
  }
  const said = now.parts.length > 0;
  tell(both, comparing, {
    rule: said ? "other-names-narrowed" : "other-names-widened",
    message: said
      ? "names that it does not declare must hold something of a kind now"
      : "names that it does not declare may hold anything now",
    forward: said ? strange : contained,
    backward: said ? contained : strange,
  });
}

/** Names that are known by their pattern. */
export function compareNamed(both: Both, comparing: Comparing): void {
  const { a, b, place } = both;
  for (const pattern of new Set([...a.named.keys(), ...b.named.keys()])) {
    const [before, now] = [a.named.get(pattern), b.named.get(pattern)];
    const [name = STRANGER] = textsFor({
      patterns: new Set([pattern]),
      formats: new Set(),
      min: 0,
      max: Number.POSITIVE_INFINITY,
    });
    if (before !== undefined && now !== undefined) {
      comparing.enter(placeInside(place, { a: before, b: now, step: { name } }));
      continue;
    }
    const gone = now === undefined;
    const has: ChangeClaim = { tries: () => put(name, samplesOf((before ?? now)!)) };
    const lacks: ChangeClaim = { tries: () => put(name, junk), undeclared: true };
    tell(both, comparing, {
      rule: gone ? "other-names-widened" : "other-names-narrowed",
      message: `names like ${pattern} are ${gone ? "no longer declared" : "declared now"}`,
      forward: gone ? has : lacks,
      backward: gone ? lacks : has,
    });
  }
}

export function compareItems(both: Both, comparing: Comparing): void {
  const { a, b, place } = both;
  const plain = a.tuples.length === 0 && b.tuples.length === 0;
  if (plain && a.items.length > 0 && b.items.length > 0) {
    comparing.enter(placeInside(place, { a: a.items, b: b.items, step: { index: 0 } }));
    return;
  }
  const [before, now] = [a, b].map((flat) =>
    JSON.stringify([
      comparing.forms.of(flat.items),
      flat.tuples.map(({ items, rest }) => [items, rest].flat().map((one) => comparing.forms.of([one]))),
    ]),
  );
  if (before === now) return;
  const claim = (parts: readonly ShapePart[]): ChangeClaim => {
    const probe = probing(parts);
    return "tries" in probe ? { tries: () => oneByOne(probe.tries(), tryingValues(junk.map((one) => [one]))) } : probe;
  };
  const [freed, bound] = [plain && b.items.length === 0, plain && a.items.length === 0];
  tell(both, comparing, {
    rule: "items-changed",
    message: bound ? "items must be of a kind now" : freed ? "items may be anything now" : "what items may be changed",
    forward: freed ? contained : claim(place.a),
    backward: bound ? contained : claim(place.b),
  });
}
