/** The search for a payload that one release accepts and the other refuses. */
import type { Json, UnionShape } from "../model/shape.js";
import type { Attempt, Place } from "./change.js";
import { flatten } from "./flat.js";
import type { Part } from "./part.js";
import { type JsonObject, type SampleOptions, type Step, sample } from "./sample.js";

/** What a validator says against a value; ajv's own, with every error told. */
export interface Refusal {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string | undefined;
}

/** The schemas of a release as validators. @returns what is against the value; nothing where it is accepted */
export type Judge = (ref: string, value: Json) => readonly Refusal[];

/** One side of a message: the two schemas, and who judges by them. */
export interface Sided {
  readonly ref: string;
  readonly part: Part;
  readonly judge: Judge;
}

export interface Proof {
  readonly payload: Json;
  readonly because: string;
}

const MOST_TRIES = 48;
const REPAIRS = 8;

const keyOf = ({ keyword, instancePath, params }: Refusal): string => JSON.stringify([keyword, instancePath, params]);

export const reasonOf = ({ instancePath, message, keyword, params }: Refusal): string => {
  const name = params.additionalProperty ?? params.missingProperty;
  return `${instancePath === "" ? "the payload" : instancePath} ${message ?? keyword}${name === undefined || message?.includes(String(name)) ? "" : ` (${String(name)})`}`;
};

/** The value at a place, and the value that holds it. */
function holderOf(value: Json, at: readonly Step[]): { holder: Json; key: string | number } | undefined {
  let holder = value;
  for (const [index, step] of at.entries()) {
    const key = "name" in step ? step.name : step.index;
    if (typeof holder !== "object" || holder === null) return undefined;
    if (index === at.length - 1) return { holder, key };
    holder = (holder as JsonObject)[key] as Json;
  }
  return undefined;
}

function valueAt(value: Json, at: readonly Step[]): Json | undefined {
  if (at.length === 0) return value;
  const found = holderOf(value, at);
  return found === undefined ? undefined : (found.holder as JsonObject)[found.key];
}

/** The payload with something else at a place; undefined where it cannot be done. */
function applied(base: Json, at: readonly Step[], attempt: Attempt): Json | undefined {
  const copy = structuredClone(base);
  if (attempt.kind === "value") {
    if (at.length === 0) return structuredClone(attempt.value);
    const found = holderOf(copy, at);
    if (found === undefined) return undefined;
    (found.holder as JsonObject)[found.key] = structuredClone(attempt.value);
    return copy;
  }
  const target = valueAt(copy, at);
  if (typeof target !== "object" || target === null || Array.isArray(target)) return undefined;
  if (attempt.kind === "put") target[attempt.name] = structuredClone(attempt.value);
  else {
    if (!Object.hasOwn(target, attempt.name)) return undefined;
    delete target[attempt.name];
  }
  return copy;
}

const stepsOf = (instancePath: string): Step[] =>
  instancePath
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((token) => (/^\d+$/.test(token) ? { index: Number(token) } : { name: token }));

/** What may be said of a place of a value: alternatives and conditions too, as a repair has to guess. */
function partsAt(root: readonly Part[], steps: readonly Step[]): Part[] {
  let parts = spread(root);
  for (const step of steps) {
    const flat = flatten(parts);
    parts = spread("name" in step ? (flat.properties.get(step.name)?.parts ?? []) : flat.items);
  }
  return parts;
}

function spread(parts: readonly Part[], depth = 0): Part[] {
  const flat = flatten(parts);
  if (depth > 3) return [...parts];
  const conditional = flat.conditions.flatMap(({ condition, of }): Part[] => {
    if (condition.kind === "if")
      return [condition.whenTrue, condition.whenFalse].flatMap((shape) => (shape === undefined ? [] : [{ shape, of }]));
    return condition.kind === "entails" ? [{ shape: condition.shape, of }] : [];
  });
  const members = flat.unions.flatMap(({ union, of }) => union.members.map((shape): Part => ({ shape, of })));
  return [...parts, ...[...members, ...conditional].flatMap((one) => spread([one], depth + 1))];
}

/** Mends one thing that a validator says. @returns whether anything was done */
function mend(value: Json, refusal: Refusal, root: readonly Part[]): boolean {
  const steps = stepsOf(refusal.instancePath);
  const target = valueAt(value, steps);
  const { keyword, params } = refusal;
  const isObject = typeof target === "object" && target !== null && !Array.isArray(target);
  if (keyword === "required" && isObject) {
    const name = String(params.missingProperty);
    const held = partsAt(root, steps).map((part) => flatten([part]).properties.get(name)).find((one) => one?.declared);
    target[name] = held === undefined ? "a" : sample(held.parts);
    return true;
  }
  if (keyword === "additionalProperties" && isObject) return delete target[String(params.additionalProperty)];
  const found = holderOf(value, steps);
  if (found === undefined) return false;
  const holder = found.holder as JsonObject;
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

const insideAlternative = ({ schemaPath, keyword }: Refusal): boolean =>
  /\/(oneOf|anyOf)\//.test(schemaPath) || keyword === "oneOf" || keyword === "anyOf" || keyword === "if";

/** Mends a payload until nobody is against it. @returns whether that came to pass */
function mended(value: Json, sides: readonly Sided[], keep: (refusal: Refusal) => boolean): boolean {
  const roots = sides.map(({ part }) => part);
  for (let round = 0; round < REPAIRS; round++) {
    const against = sides.flatMap(({ judge, ref }) => judge(ref, value));
    if (against.length === 0) return true;
    const plain = against.filter((one) => !insideAlternative(one) && keep(one));
    const tried = (plain.length > 0 ? plain : against.filter(keep)).slice(0, 6);
    if (!tried.map((one) => mend(value, one, roots)).includes(true)) return false;
  }
  return sides.every(({ judge, ref }) => judge(ref, value).length === 0);
}

const always = (): boolean => true;

/** Payloads that have a place, and that the sender's release accepts: those that both accept first. */
function* bases(source: Sided, target: Sided, place: Place): Generator<Json> {
  const seen = new Set<string>();
  for (const sides of [[source, target], [source]] as const) {
    for (const turn of [0, 1, 2]) {
      const options: SampleOptions = { path: place.at, choices: place.choices as ReadonlyMap<UnionShape, number>, turn };
      const base = sample(sides.map(({ part }) => part), options);
      const well = mended(base, sides, always);
      const text = JSON.stringify(base);
      if (seen.has(text)) continue;
      seen.add(text);
      if (well && (place.at.length === 0 || valueAt(base, place.at) !== undefined)) yield base;
    }
  }
}

/** A payload with something done to it that the sender's release accepts and the reader's refuses, for what was done. */
function tried(base: Json, attempt: Attempt, { source, target, place }: Sought, known: ReadonlySet<string>): Proof | undefined {
  const payload = applied(base, place.at, attempt);
  if (payload === undefined) return undefined;
  if (source.judge(source.ref, payload).length > 0) {
    const focus = JSON.stringify(valueAt(payload, place.at));
    const ok = mended(payload, [source], ({ keyword }) => keyword === "required" || keyword === "additionalProperties");
    if (!ok || (attempt.kind !== "drop" && focus === undefined) || undone(payload, place.at, attempt)) return undefined;
  }
  const against = target.judge(target.ref, payload).filter((one) => !known.has(keyOf(one)));
  const [first] = against;
  if (first === undefined) return undefined;
  return { payload, because: reasonOf(against.find((one) => !insideAlternative(one)) ?? first) };
}

/** Whether mending took back what the attempt was about. */
function undone(payload: Json, at: readonly Step[], attempt: Attempt): boolean {
  if (attempt.kind === "value") return false;
  const target = valueAt(payload, at);
  if (typeof target !== "object" || target === null) return true;
  return Object.hasOwn(target, attempt.name) === (attempt.kind === "drop");
}

export interface Sought {
  /** Of the sender's release. */
  readonly source: Sided;
  /** Of the reader's. */
  readonly target: Sided;
  readonly place: Place;
}

/** Looks for the proof that a change takes something away. @returns undefined where none was found */
export function findProof(sought: Sought, tries: readonly Attempt[]): Proof | undefined {
  const { source, target, place } = sought;
  for (const base of bases(source, target, place)) {
    const known = new Set(target.judge(target.ref, base).map(keyOf));
    for (const attempt of tries.slice(0, MOST_TRIES)) {
      const proof = tried(base, attempt, sought, known);
      if (proof !== undefined) return proof;
    }
  }
  return undefined;
}

/** A payload that one side accepts, as small as can be; undefined where none could be made. */
export function smallest(side: Sided): Json | undefined {
  for (const turn of [0, 1, 2, 3]) {
    const made = sample([side.part], { turn });
    if (mended(made, [side], always)) return made;
  }
  return undefined;
}
