/** Payloads with one fault each that their schema refuses, and the fault known. */

import { numbers } from "./random.js";
import { isMap, type SchemaJudge } from "./schema-judge.js";

export type FaultKind = "dropped" | "mistyped" | "unlisted" | "unknown";

export interface Payload {
  tool: string;
  direction: string;
  /** Path of the schema the payload is valid under. */
  schema: string;
  payload: unknown;
}

export interface Faulty {
  schema: string;
  kind: FaultKind;
  /** Place of the fault, as keys. */
  at: (string | number)[];
  value: unknown;
  /** Only `if`, `not`, `contains` and their like refuse it, which no type says. */
  conditional: boolean;
}

type Path = (string | number)[];

/** Every place in a value, the whole of it first. */
function* places(value: unknown, at: Path = []): Generator<Path> {
  yield at;
  if (Array.isArray(value)) for (const [index, one] of value.entries()) yield* places(one, [...at, index]);
  else if (isMap(value)) for (const key of Object.keys(value)) yield* places(value[key], [...at, key]);
}

const valueAt = (value: unknown, at: Path): unknown =>
  at.reduce<unknown>((held, key) => (held as Record<string | number, unknown>)[key], value);

/** A copy with something done to what holds the last key. */
function changed(
  value: unknown,
  at: Path,
  change: (holder: Record<string | number, unknown>, key: string | number) => void,
): unknown {
  const copy = structuredClone({ root: value });
  const path = ["root", ...at];
  change(valueAt(copy, path.slice(0, -1)) as Record<string | number, unknown>, path.at(-1)!);
  return copy.root;
}

const UNKNOWN = "zz_unknown_field";

/** The object at a place is meant to hold the names it declares and no others, whether or not the schema closes it. */
function declaresItsNames(judge: SchemaJudge, schema: string, value: unknown, at: Path): boolean {
  if (["ext", "context"].includes(String(at.at(-1)))) return false;
  const about = judge.about(schema, value, at);
  const open = about.some(
    ({ additionalProperties, patternProperties }) =>
      (isMap(additionalProperties) && Object.keys(additionalProperties).length > 0) || patternProperties !== undefined,
  );
  return !open && about.some(({ properties }) => isMap(properties) && Object.keys(properties).length > 0);
}

/** Objects that a schema leaves to whoever fills them: it is about them, and names nothing. */
const isBare = (schema: Record<string, unknown>): boolean =>
  schema.type === "object" &&
  schema.additionalProperties !== false &&
  !["properties", "patternProperties", "required", "$ref", "allOf", "oneOf", "anyOf"].some((key) => key in schema);

/** Names at a place that no schema about it declares, where names are declared at all. */
function undeclaredNames(judge: SchemaJudge, schema: string, value: unknown, at: Path): string[] {
  const held = valueAt(value, at);
  if (!isMap(held) || ["ext", "context"].includes(String(at.at(-1)))) return [];
  const about = judge.about(schema, value, at);
  const says = about.filter(({ properties, patternProperties }) => isMap(properties) || isMap(patternProperties));
  if (says.length === 0 || about.some(isBare)) return [];
  return Object.keys(held).filter(
    (name) =>
      !about.some(
        ({ properties, patternProperties, additionalProperties }) =>
          (isMap(properties) && Object.hasOwn(properties, name)) ||
          (isMap(patternProperties) && Object.keys(patternProperties).some((one) => new RegExp(one, "u").test(name))) ||
          (isMap(additionalProperties) && Object.keys(additionalProperties).length > 0),
      ),
  );
}

/** A payload without the names that nothing declares, and where those were. */
export function withoutUndeclared(
  judge: SchemaJudge,
  schema: string,
  payload: unknown,
): { value: unknown; undeclared: Path[] } {
  const undeclared: Path[] = [];
  const visit = (value: unknown, at: Path): unknown => {
    if (Array.isArray(value)) return value.map((one, index) => visit(one, [...at, index]));
    if (!isMap(value)) return value;
    const strange = new Set(undeclaredNames(judge, schema, payload, at));
    for (const name of strange) undeclared.push([...at, name]);
    const kept = Object.entries(value).filter(([name]) => !strange.has(name));
    return Object.fromEntries(kept.map(([name, one]) => [name, visit(one, [...at, name])]));
  };
  return { value: visit(payload, []), undeclared };
}

const pointerOf = (at: Path): string =>
  at.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** One fault of a kind at a place; undefined where it would be none. */
function faultAt(judge: SchemaJudge, { schema, payload }: Payload, kind: FaultKind, at: Path): unknown {
  const held = valueAt(payload, at);
  switch (kind) {
    case "dropped": {
      const holder = at.length === 0 ? undefined : valueAt(payload, at.slice(0, -1));
      if (!isMap(holder)) return undefined;
      const value = changed(payload, at, (object, key) => delete object[key]);
      return judge.accepts(schema, value) ? undefined : value;
    }
    case "mistyped": {
      if (at.length === 0) return undefined;
      const value = changed(payload, at, (object, key) => {
        object[key] = typeof held === "string" ? 42 : "wrong-type";
      });
      return judge.accepts(schema, value) ? undefined : value;
    }
    case "unlisted": {
      if (typeof held !== "string" || at.length === 0) return undefined;
      const value = changed(payload, at, (object, key) => {
        object[key] = `${held}-not-in-any-list`;
      });
      if (judge.accepts(schema, value)) return undefined;
      const here = judge.errors().filter((error) => error.at === pointerOf(at));
      return here.some(({ keyword }) => keyword === "enum" || keyword === "const") ? value : undefined;
    }
    case "unknown": {
      if (!isMap(held) || !declaresItsNames(judge, schema, payload, at)) return undefined;
      return changed({ payload }, ["payload", ...at], (object, key) => {
        object[key] = { ...(object[key] as object), [UNKNOWN]: "x" };
      }) as { payload: unknown };
    }
  }
}

/** Draws per fault asked for, at most. */
const MAX_TURNS = 12;

const kinds: readonly FaultKind[] = ["dropped", "mistyped", "unlisted", "unknown"];

/**
 * Payloads with one fault each, a kind at a time, drawn with a seed.
 * @param count how many
 */
export function faulty(
  judge: SchemaJudge,
  payloads: readonly Payload[],
  { count, seed }: { count: number; seed: number },
): Faulty[] {
  const next = numbers(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
  const found: Faulty[] = [];
  const seen = new Set<string>();
  // Small corpora have only so many faults of a kind: each kind has its turn whether or not the last gave one.
  for (let turn = 0; found.length < count && turn < count * MAX_TURNS; turn++) {
    const kind = kinds[turn % kinds.length]!;
    const payload = pick(payloads);
    const at = pick([...places(payload.payload)]);
    const made = faultAt(judge, payload, kind, at);
    if (made === undefined) continue;
    const value = kind === "unknown" ? (made as { payload: unknown }).payload : made;
    const text = payload.schema + JSON.stringify(value);
    if (seen.has(text)) continue;
    seen.add(text);
    const conditional = kind !== "unknown" && judge.acceptsUnconditionally(payload.schema, value);
    found.push({ schema: payload.schema, kind, at, value, conditional });
  }
  return found;
}
