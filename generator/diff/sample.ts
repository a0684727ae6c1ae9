/** Values of a place, made and not found: the smallest, a full one, one with each alternative. Validators have the last word. */
import type { Json, UnionShape } from "../model/shape.js";
import { coversKind, type Flat, flatten, kinds, restOf, same, type ValueKind, valueKindOf } from "./flat.js";
import { leavesOf, type ShapePart } from "./part.js";
import { textsFor } from "./texts.js";

/** One step into a value. */
export type ValueStep = { readonly name: string } | { readonly index: number };

export interface SampleOptions {
  /** Places that must be there, outermost first. */
  readonly path?: readonly ValueStep[];
  /** Which alternative is taken. */
  readonly choices?: ReadonlyMap<UnionShape, number>;
  /** Optional properties too, so many levels down. */
  readonly full?: number;
  /** Turns every free choice by so many. */
  readonly turn?: number;
  /** A kind to take where several may be. */
  readonly kind?: ValueKind;
  readonly depth?: number;
}

export type SampleObject = { [key: string]: Json };

/** Levels after which only what is demanded is made. */
const DEEPEST = 24;
const MOST_ITEMS = 60;

/** Whether an alternative can hold with what is demanded beside it. */
function possible(member: Flat, beside: Flat): boolean {
  if (member.never) return false;
  if (member.kinds !== undefined && beside.kinds !== undefined)
    if (
      ![...member.kinds].some(
        (kind) => coversKind(beside.kinds, kind) || (kind === "number" && beside.kinds!.has("integer")),
      )
    )
      return false;
  for (const [name, { parts }] of member.properties) {
    const other = beside.properties.get(name);
    if (other === undefined) continue;
    const [own, theirs] = [flatten(parts).values, flatten(other.parts).values];
    if (own !== undefined && theirs !== undefined && !own.some((one) => theirs.some((two) => same(one, two))))
      return false;
  }
  return true;
}

/** Takes an alternative of every union, until none is left. */
function takeAlternatives(
  given: readonly ShapePart[],
  { choices, turn = 0, path }: SampleOptions,
): { parts: ShapePart[]; flat: Flat } {
  const taken = new Set<UnionShape>();
  let parts = [...given];
  for (let round = 0; round < 20; round++) {
    const flat = flatten(parts);
    const open = flat.unions.filter(({ union }) => !taken.has(union));
    if (open.length === 0) return { parts, flat };
    const { union, of } = open.find((one) => choices?.has(one.union)) ?? open[0]!;
    taken.add(union);
    const ways = union.members.map((shape): ShapePart => ({ shape, of }));
    const chosen = choices?.get(union);
    const step = path?.[0];
    const fitting = ways.filter((way) => possible(flatten([way]), flat));
    const leading = fitting.filter((way) => step === undefined || leads(flatten([way]), step));
    const free = leading.length > 0 ? leading : fitting.length > 0 ? fitting : ways;
    const way = chosen === undefined ? free[turn % free.length]! : ways[chosen]!;
    parts = [...parts, way];
  }
  return { parts, flat: flatten(parts) };
}

const leads = (flat: Flat, step: ValueStep): boolean =>
  "name" in step ? flat.properties.has(step.name) || flat.unions.length > 0 : coversKind(flat.kinds, "array");

/** One value of a place. */
export function sample(given: readonly ShapePart[], options: SampleOptions = {}): Json {
  const { path = [], turn = 0, depth = 0 } = options;
  const [step, ...further] = path;
  const { flat, parts } = takeAlternatives(given, options);
  const { kind: _, ...carried } = options;
  const inner: SampleOptions = { ...carried, path: [], depth: depth + 1 };
  if (step === undefined && flat.values !== undefined && flat.values.length > 0) {
    const wanted =
      options.kind === undefined
        ? flat.values
        : flat.values.filter((one) => coversKind(new Set([options.kind!]), valueKindOf(one)));
    const values = wanted.length > 0 ? wanted : flat.values;
    return values[turn % values.length]!;
  }
  const kind = step === undefined ? (options.kind ?? kindFor(flat)) : "name" in step ? "object" : "array";
  switch (kind) {
    case "object":
      return object(flat, step !== undefined && "name" in step ? { name: step.name, further } : undefined, inner);
    case "array":
      return list(flat, step === undefined ? undefined : further, inner);
    case "string":
      return text(flat, parts, turn);
    case "integer":
    case "number":
      return number(flat, kind);
    case "boolean":
      return turn % 2 === 0;
    case "null":
      return null;
  }
}

function kindFor(flat: Flat): ValueKind {
  const allowed = kinds.filter((kind) => coversKind(flat.kinds, kind));
  if (flat.kinds !== undefined) return allowed.find((kind) => kind !== "null") ?? allowed[0] ?? "null";
  if (flat.properties.size > 0 || flat.rests.length > 0) return "object";
  if (flat.items.length > 0 || flat.bounds.has("minItems")) return "array";
  return "string";
}

function object(flat: Flat, forced: { name: string; further: ValueStep[] } | undefined, options: SampleOptions): Json {
  const { full = 0, depth = 0 } = options;
  const made: SampleObject = {};
  for (const [name, { required, parts }] of flat.properties) {
    if (name === forced?.name) continue;
    if (!required && (full <= 0 || depth > DEEPEST)) continue;
    const shape = flatten(parts);
    if (shape.never) continue;
    made[name] = depth > DEEPEST ? null : sample(parts, { ...options, full: full - 1 });
  }
  if (forced !== undefined) {
    const known = flat.properties.get(forced.name);
    const { further: path } = forced;
    const holder = known?.parts ?? restOf(flat, forced.name).parts;
    made[forced.name] = sample(holder, { ...options, path, full: full - 1 });
  }
  const least = flat.bounds.get("minProperties") ?? 0;
  for (const [name, { parts }] of flat.properties) {
    if (Object.keys(made).length >= least) break;
    if (!Object.hasOwn(made, name)) made[name] = sample(parts, { ...options, full: 0 });
  }
  return made;
}

function list(flat: Flat, further: ValueStep[] | undefined, options: SampleOptions): Json {
  const contained = containedIn(flat);
  const least = Math.min(Math.max(flat.bounds.get("minItems") ?? 0, contained.length), MOST_ITEMS);
  const wanted = Math.max(least, further !== undefined || (options.full ?? 0) > 0 ? 1 : 0);
  const most = flat.bounds.get("maxItems") ?? Number.POSITIVE_INFINITY;
  return Array.from({ length: Math.min(wanted, most) }, (_, index) => {
    const placed = flat.tuples.flatMap(({ items, rest }) => items[index] ?? rest);
    const turn = (options.turn ?? 0) + (flat.unique ? index : 0);
    const item = sample([...flat.items, ...placed, ...contained.slice(index, index + 1)], {
      ...options,
      turn,
      ...(index === 0 && further !== undefined && { path: further }),
    });
    return flat.unique && typeof item === "string" && index > 0 && flat.items.length === 0 ? `${item}${index}` : item;
  });
}

/** What elements of a list must be, an entry for each that there must be. */
const containedIn = ({ conditions }: Flat): ShapePart[] =>
  conditions.flatMap(({ condition, of }) => {
    if (condition.kind !== "contains") return [];
    const count = Math.min(condition.least ?? 1, MOST_ITEMS);
    return Array.from({ length: count }, (): ShapePart => ({ shape: condition.shape, of }));
  });

function text(flat: Flat, parts: readonly ShapePart[], turn: number): string {
  const hints = leavesOf(parts).flatMap(({ shape }) => (shape.examples ?? []).filter((one) => typeof one === "string"));
  const texts = textsFor(
    {
      patterns: flat.patterns,
      formats: flat.formats,
      min: flat.bounds.get("minLength") ?? 0,
      max: flat.bounds.get("maxLength") ?? Number.POSITIVE_INFINITY,
    },
    hints,
  );
  return texts[turn % texts.length]!;
}

function number(flat: Flat, kind: ValueKind): number {
  const [step = kind === "integer" ? 1 : 0.5] = flat.multiples;
  const least = Math.max(
    flat.bounds.get("minimum") ?? Number.NEGATIVE_INFINITY,
    (flat.bounds.get("exclusiveMinimum") ?? Number.NEGATIVE_INFINITY) + step,
  );
  const most = Math.min(
    flat.bounds.get("maximum") ?? Number.POSITIVE_INFINITY,
    (flat.bounds.get("exclusiveMaximum") ?? Number.POSITIVE_INFINITY) - step,
  );
  const value = Number.isFinite(least) ? least : Math.min(1, most);
  if (value > most) return (least + most) / 2;
  return kind === "integer" ? Math.ceil(value) : value;
}
