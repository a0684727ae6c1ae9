/** Alternatives and conditions of one place. */
import type { Condition, Json, Shape, UnionShape } from "../model/shape.js";
import { type Alternative, alternativesOf, formName, matchForms } from "./alternatives.js";
import { type Attempt, type ChangeClaim, type Comparing, contained, type DiffPlace, placeText } from "./change.js";
import { type Both, oneByOne, probing, samplesOf, tell, tryingValues } from "./compare-value.js";
import { conditionText } from "./condition-text.js";
import { flatten } from "./flat.js";
import { leavesOf, type ShapePart } from "./part.js";
import { sample } from "./sample.js";

type Union = Both["a"]["unions"][number];

const partsOf = (alternatives: readonly Alternative[]): ShapePart[] => alternatives.map(({ part }) => part);
const formsIn = ({ union, of }: Union): ShapePart[] => partsOf(alternativesOf(union, of));

const withChoices = (place: DiffPlace, ...taken: readonly Alternative[]): DiffPlace["choices"] =>
  new Map([...place.choices, ...taken.flatMap(({ choices }) => choices)]);

/** Alternatives that a constant tells apart: no value is of two of them. */
const apart = (union: UnionShape): boolean => union.mode === "any" || union.discriminator !== undefined;

function compareUnion(both: Both, comparing: Comparing, before: Union, now: Union): void {
  const { place } = both;
  const [had, has] = [alternativesOf(before.union, before.of), alternativesOf(now.union, now.of)];
  const [old, fresh] = [partsOf(had), partsOf(has)];
  const matched = matchForms(old, fresh, comparing.forms);
  const unions = [...had, ...has].flatMap(({ choices }) => choices.map(([union]) => union));
  const within = place.within ?? placeText(place.at);
  const exclusive = place.exclusive || unions.some((union) => !apart(union));
  for (const [a, b] of matched.pairs) {
    if (comparing.forms.of([old[a]!]) === comparing.forms.of([fresh[b]!])) continue;
    const choices = withChoices(place, had[a]!, has[b]!);
    comparing.enter({ ...place, a: [old[a]!], b: [fresh[b]!], choices, exclusive, within });
  }
  const beside = (parts: readonly ShapePart[], one: UnionShape): ShapePart[] =>
    leavesOf(parts).filter(({ shape }) => shape !== one);
  const alone = (parts: readonly ShapePart[], union: UnionShape, member: ShapePart): ChangeClaim =>
    probing([...beside(parts, union), member]);
  const unsure = { ...place, exclusive, within };
  for (const index of matched.gone)
    tell({ ...both, place: unsure }, comparing, {
      rule: "alternative-removed",
      message: `alternative ${formName(old[index]!, index)} removed`,
      forward: alone(place.a, before.union, old[index]!),
      backward: contained,
    });
  for (const index of matched.fresh)
    tell({ ...both, place: unsure }, comparing, {
      rule: "alternative-added",
      message: `alternative ${formName(fresh[index]!, index)} added`,
      forward: contained,
      backward: alone(place.b, now.union, fresh[index]!),
    });
  if (before.union.mode === now.union.mode) return;
  const stricter = now.union.mode === "one";
  tell(both, comparing, {
    rule: "alternatives-changed",
    message: stricter
      ? "exactly one alternative may hold now, one at least before"
      : "several alternatives may hold now",
    forward: stricter ? probing(place.a) : contained,
    backward: stricter ? contained : probing(place.b),
  });
}

/** Alternatives of both sides, those of one meaning put aside. */
export function compareUnions(both: Both, comparing: Comparing): void {
  const form = ({ union, of }: Union): string =>
    `${union.mode} ${union.members
      .map((shape) => comparing.forms.of([{ shape, of }]))
      .sort()
      .join()}`;
  const now = [...both.b.unions];
  const before = both.a.unions.filter((one) => {
    const twin = now.findIndex((two) => form(one) === form(two));
    if (twin >= 0) now.splice(twin, 1);
    return twin < 0;
  });
  const likest = (one: Union): Union | undefined => {
    const ranked = now
      .map((two) => ({ two, score: matchForms(formsIn(one), formsIn(two), comparing.forms).pairs.length }))
      .sort((x, y) => y.score - x.score);
    return ranked[0]?.two;
  };
  for (const one of before) {
    const two = likest(one);
    if (two === undefined) {
      demandChanged(both, comparing, false);
      continue;
    }
    now.splice(now.indexOf(two), 1);
    compareUnion(both, comparing, one, two);
  }
  for (const _ of now) demandChanged(both, comparing, true);
}

/** A place that had no alternatives has some, or the other way round. */
function demandChanged(both: Both, comparing: Comparing, added: boolean): void {
  const { place } = both;
  tell(both, comparing, {
    rule: added ? "alternatives-demanded" : "alternatives-dropped",
    message: added ? "one of several forms is demanded now" : "none of several forms is demanded any more",
    forward: added ? probing(place.a) : contained,
    backward: added ? contained : probing(place.b),
  });
}

/** Each value, and each object once more without each of its names. */
function* withAndWithout(values: Iterable<Json>): Generator<Json> {
  for (const value of values) {
    yield value;
    if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
    for (const name of Object.keys(value))
      yield Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
  }
}

/** Elements of a list made to show that they are counted. */
const MOST_COUNTED = 1000;

const itemsOf = (parts: readonly ShapePart[]): readonly ShapePart[] => flatten(parts).items;

/** Values that meet what a condition asks and not what it demands then. */
function against(condition: Condition, of: ShapePart["of"], parts: readonly ShapePart[]): Iterable<Attempt> {
  const part = (shape: Shape): ShapePart => ({ shape, of });
  const dropped = (values: Iterable<Json>): Iterable<Attempt> => tryingValues(withAndWithout(values));
  switch (condition.kind) {
    case "if":
      return oneByOne(
        dropped(samplesOf([...parts, part(condition.test)], 4)),
        condition.whenFalse === undefined ? [] : dropped(samplesOf(parts, 4)),
        outside(condition, of, parts),
      );
    case "not":
    case "entails":
      return dropped(samplesOf([...parts, part(condition.shape)], 4));
    case "names":
      return ["unheard_of", "UNHEARD", "~", "", "a b"].map((name): Attempt => ({ kind: "put", name, value: "a" }));
    case "contains": {
      const { least = 1, most = least, shape } = condition;
      const counts = [least - 1, most + 1].filter((count) => count <= MOST_COUNTED);
      const lists = counts.map((count) =>
        Array.from({ length: count }, (_, turn) => sample([...itemsOf(parts), part(shape)], { turn, full: 1 })),
      );
      return tryingValues(oneByOne<Json>([[]], lists, samplesOf(parts)));
    }
    case "needs":
      return tryingValues(
        condition.properties.flatMap((name) =>
          [...samplesOf(parts, 2)].map((value) =>
            typeof value === "object" && value !== null && !Array.isArray(value)
              ? {
                  ...Object.fromEntries(Object.entries(value).filter(([key]) => key !== name)),
                  [condition.property]: value[condition.property] ?? "a",
                }
              : value,
          ),
        ),
      );
  }
}

/** Values that meet the test, with names that what follows speaks of holding something else. */
function* outside(
  condition: Extract<Condition, { kind: "if" }>,
  of: ShapePart["of"],
  parts: readonly ShapePart[],
): Generator<Attempt> {
  const then = condition.whenTrue;
  if (then === undefined) return;
  const base = sample([...parts, { shape: condition.test, of }], { full: 1 });
  if (typeof base !== "object" || base === null || Array.isArray(base)) return;
  const own = flatten(parts);
  for (const name of flatten([{ shape: then, of }]).properties.keys()) {
    const held = own.properties.get(name)?.parts ?? [];
    for (const value of oneByOne<Json>(samplesOf(held, 4), ["no such text", 7, [], {}]))
      yield { kind: "value", value: { ...base, [name]: value } };
  }
}

/** Clauses that a message has before it says how many more there are. */
const CLAUSES = 3;

const clauses = (conditions: Both["a"]["conditions"]): string =>
  conditions
    .slice(0, CLAUSES)
    .map(({ condition, of }) => conditionText(condition, of))
    .join("; ") + (conditions.length > CLAUSES ? `; and ${conditions.length - CLAUSES} more` : "");

/** Conditions that sound alike differ further in than a clause tells: to say of one that it came and went would say nothing. */
function conditionsText(fresh: Both["a"]["conditions"], gone: Both["a"]["conditions"]): string {
  const [now, before] = [clauses(fresh), clauses(gone)];
  if (now === before) return `${now}: inside that, something else than before`;
  return [...(now === "" ? [] : [`now ${now}`]), ...(before === "" ? [] : [`no more ${before}`])].join("; ");
}

export function compareConditions(both: Both, comparing: Comparing): void {
  const { a, b, place } = both;
  const form = ({ condition, of }: Both["a"]["conditions"][number]): string => comparing.forms.condition(condition, of);
  const fresh = [...b.conditions];
  const gone = a.conditions.filter((one) => {
    const twin = fresh.findIndex((two) => form(one) === form(two));
    if (twin >= 0) fresh.splice(twin, 1);
    return twin < 0;
  });
  if (gone.length === 0 && fresh.length === 0) return;
  const rule = gone.length === 0 ? "condition-added" : fresh.length === 0 ? "condition-removed" : "condition-changed";
  const claim = (conditions: typeof fresh, parts: readonly ShapePart[]): ChangeClaim =>
    conditions.length === 0
      ? contained
      : { tries: () => oneByOne(...conditions.map(({ condition, of }) => against(condition, of, parts))) };
  tell(both, comparing, {
    rule,
    message: conditionsText(fresh, gone),
    forward: claim(fresh, place.a),
    backward: claim(gone, place.b),
  });
}
