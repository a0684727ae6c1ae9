/** A payload that a release refuses, mended until it does not: what is demanded added, what is forbidden taken out. */
import { isJsonObject } from "../../runtime/contract/index.js";
import type { Json, Shape } from "../model/shape.js";
import { placeText } from "./change.js";
import { flatten, restOf } from "./flat.js";
import type { ShapePart } from "./part.js";
import { type SampleObject, sample, type ValueStep } from "./sample.js";

const REPAIRS = 8;
const GUESSES = 3;

/** What a validator says against a value; ajv's own, with every error told. */
export interface SchemaRefusal {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string | undefined;
}

/** The schemas of a release as validators. @returns what is against the value; nothing where it is accepted */
export type DiffJudge = (ref: string, value: Json) => readonly SchemaRefusal[];

/** One side of a message: the two schemas, and who judges by them. */
export interface Sided {
  readonly ref: string;
  readonly part: ShapePart;
  readonly judge: DiffJudge;
}

/** The value at a place, and the value that holds it. */
export function holderOf(value: Json, at: readonly ValueStep[]): { holder: Json; key: string | number } | undefined {
  let holder = value;
  for (const [index, step] of at.entries()) {
    const key = "name" in step ? step.name : step.index;
    if (typeof holder !== "object" || holder === null) return undefined;
    if (index === at.length - 1) return { holder, key };
    holder = (holder as SampleObject)[key] as Json;
  }
  return undefined;
}

export function valueAt(value: Json, at: readonly ValueStep[]): Json | undefined {
  if (at.length === 0) return value;
  const found = holderOf(value, at);
  return found === undefined ? undefined : (found.holder as SampleObject)[found.key];
}

export const instancePathOf = (at: readonly ValueStep[]): string =>
  at
    .map((step) => ("name" in step ? `/${step.name.replaceAll("~", "~0").replaceAll("/", "~1")}` : `/${step.index}`))
    .join("");

const stepsOf = (instancePath: string): ValueStep[] =>
  instancePath
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((token) => (/^\d+$/.test(token) ? { index: Number(token) } : { name: token }));

const places = new WeakMap<Shape, Map<string, readonly ShapePart[]>>();

/** What may be said of a place of a value: alternatives and conditions too, as a repair has to guess. */
function partsAt(root: ShapePart, steps: readonly ValueStep[]): readonly ShapePart[] {
  const known = places.get(root.shape) ?? new Map<string, readonly ShapePart[]>();
  places.set(root.shape, known);
  const key = placeText(steps);
  const found = known.get(key);
  if (found !== undefined) return found;
  const last = steps.at(-1);
  const parts = last === undefined ? spread([root]) : inside(partsAt(root, steps.slice(0, -1)), last);
  known.set(key, parts);
  return parts;
}

function inside(holders: readonly ShapePart[], step: ValueStep): ShapePart[] {
  const flat = flatten(holders);
  return spread("name" in step ? (flat.properties.get(step.name)?.parts ?? restOf(flat, step.name).parts) : flat.items);
}

const spreads = new WeakMap<Shape, readonly ShapePart[]>();

function spread(parts: readonly ShapePart[], depth = 0): ShapePart[] {
  if (depth > 3) return [...parts];
  return [...parts, ...parts.flatMap((part) => (depth === 0 ? spreadOf(part) : beyond(part, depth)))];
}

function spreadOf(part: ShapePart): readonly ShapePart[] {
  const known = spreads.get(part.shape) ?? beyond(part, 0);
  spreads.set(part.shape, known);
  return known;
}

/** What conditions and alternatives of a part may demand beside it. */
function beyond(part: ShapePart, depth: number): ShapePart[] {
  const flat = flatten([part]);
  const conditional = flat.conditions.flatMap(({ condition, of }): ShapePart[] => {
    if (condition.kind === "if")
      return [condition.whenTrue, condition.whenFalse].flatMap((shape) => (shape === undefined ? [] : [{ shape, of }]));
    return condition.kind === "entails" ? [{ shape: condition.shape, of }] : [];
  });
  const members = flat.unions.flatMap(({ union, of }) => union.members.map((shape): ShapePart => ({ shape, of })));
  return [...members, ...conditional].flatMap((one) => spread([one], depth + 1));
}

/** Mends one thing that a validator says. @returns whether anything was done */
function mend(value: Json, refusal: SchemaRefusal, roots: readonly ShapePart[]): boolean {
  const steps = stepsOf(refusal.instancePath);
  const target = valueAt(value, steps);
  const { keyword, params } = refusal;
  if (keyword === "required" && isJsonObject(target)) {
    const name = String(params.missingProperty);
    const held = roots
      .flatMap((root) => partsAt(root, steps))
      .map((part) => flatten([part]).properties.get(name))
      .find((one) => one?.declared);
    target[name] = held === undefined ? "a" : sample(held.parts);
    return true;
  }
  if (keyword === "additionalProperties" && isJsonObject(target))
    return delete target[String(params.additionalProperty)];
  const found = holderOf(value, steps);
  if (found === undefined) return false;
  const holder = found.holder as SampleObject;
  if (keyword === "false schema" || keyword === "not") {
    if (Array.isArray(found.holder)) return false;
    return delete holder[found.key];
  }
  if (keyword === "const") holder[found.key] = params.allowedValue as Json;
  else if (keyword === "enum") holder[found.key] = (params.allowedValues as Json[])[0]!;
  else if (keyword === "minItems" && Array.isArray(target) && target.length > 0)
    target.push(structuredClone(target[0]!));
  else if (keyword === "type" && params.type === "null") holder[found.key] = null;
  else return false;
  return true;
}

export const insideAlternative = ({ schemaPath, keyword }: SchemaRefusal): boolean =>
  /\/(oneOf|anyOf)\//.test(schemaPath) || keyword === "oneOf" || keyword === "anyOf" || keyword === "if";

/** Mends a payload until nobody is against it. @returns whether that came to pass */
export function mended(value: Json, sides: readonly Sided[], keep: (refusal: SchemaRefusal) => boolean): boolean {
  const roots = sides.map(({ part }) => part);
  for (let round = 0; round < REPAIRS; round++) {
    const against = sides.flatMap(({ judge, ref }) => judge(ref, value));
    if (against.length === 0) return true;
    const plain = against.filter((one) => !insideAlternative(one) && keep(one));
    // What stands inside alternatives is a guess: a second one rarely helps.
    if (plain.length === 0 && round >= GUESSES) return false;
    const tried = (plain.length > 0 ? plain : against.filter(keep)).slice(0, 6);
    if (!tried.map((one) => mend(value, one, roots)).includes(true)) return false;
  }
  return sides.every(({ judge, ref }) => judge(ref, value).length === 0);
}

export const always = (): boolean => true;
