/** Fields of a release's messages, in words: what each holds, and where it stands. */
import { placeText } from "../../generator/diff/change.js";
import { type Flat, flatten } from "../../generator/diff/flat.js";
import { leavesOf, pointerOf, type ShapePart } from "../../generator/diff/part.js";
import type { ValueStep } from "../../generator/diff/sample.js";

/** Levels that are looked into; schemas may hold themselves. */
const DEEPEST = 12;
/** Places of one field that are told. */
export const MOST_PLACES = 12;

export interface FieldPlace {
  /** `/packages/-/budget`. */
  readonly at: string;
  readonly required: boolean;
  readonly deprecated: boolean;
  readonly holds: string;
  readonly description?: string;
  readonly pointer: string;
}

/** What a place holds, in a few words. */
function holdsText(flat: Flat): string {
  if (flat.never) return "nothing";
  if (flat.values !== undefined) {
    const shown = flat.values.slice(0, 8).map((value) => JSON.stringify(value));
    const rest = flat.values.length - shown.length;
    return `${flat.values.length === 1 ? "" : "one of "}${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  }
  const kinds =
    [...(flat.kinds ?? [])].sort().join(" or ") || (flat.unions.length > 0 ? "one of several forms" : "any value");
  const said = [
    ...flat.formats,
    ...[...flat.patterns].map((one) => `like ${one}`),
    ...[...flat.bounds].map(([bound, limit]) => `${bound} ${limit}`),
  ];
  return said.length === 0 ? kinds : `${kinds} (${said.join(", ")})`;
}

const descriptionOf = (parts: readonly ShapePart[]): string | undefined =>
  leavesOf(parts).find(({ shape }) => shape.description !== undefined)?.shape.description;

interface Visit {
  readonly parts: readonly ShapePart[];
  readonly at: readonly ValueStep[];
}

/** Tables of a place, and of the alternatives and conditions that may hold there. */
function tablesOf(parts: readonly ShapePart[], depth = 0): Flat[] {
  const flat = flatten(parts);
  if (depth > 3) return [flat];
  const members = flat.unions.flatMap(({ union, of }) => union.members.map((shape) => ({ shape, of })));
  return [flat, ...members.flatMap((one) => tablesOf([one], depth + 1))];
}

/** Every place of a message at which a field of a name stands; a schema that is met again is not gone into again. */
export function fieldPlaces(root: ShapePart, name: string): FieldPlace[] {
  const found = new Map<string, FieldPlace>();
  const seen = new Set<string>();
  const pending: Visit[] = [{ parts: [root], at: [] }];
  for (let next = 0; next < pending.length; next++) {
    const { parts, at } = pending[next]!;
    const key = parts.map(({ shape }) => shape.pointer).join();
    if (seen.has(key) || at.length > DEEPEST) continue;
    seen.add(key);
    for (const flat of tablesOf(parts)) {
      for (const [held, { parts: inner, required, deprecated }] of flat.properties) {
        const place: ValueStep[] = [...at, { name: held }];
        pending.push({ parts: inner, at: place });
        if (held !== name || found.has(placeText(place))) continue;
        const description = descriptionOf(inner);
        found.set(placeText(place), {
          at: placeText(place),
          required,
          deprecated,
          holds: holdsText(flatten(inner)),
          ...(description !== undefined && { description }),
          pointer: pointerOf(inner),
        });
      }
      if (flat.items.length > 0) pending.push({ parts: flat.items, at: [...at, { index: 0 }] });
    }
  }
  return [...found.values()];
}

/** Names of the root of a message: those that are demanded, and the others. */
export function rootFields(root: ShapePart): { required: string[]; optional: string[] } {
  const [flat] = tablesOf([root]) as [Flat];
  const names = [...flat.properties].filter(([, { parts }]) => !flatten(parts).never);
  return {
    required: names.filter(([, { required }]) => required).map(([name]) => name),
    optional: names.filter(([, { required }]) => !required).map(([name]) => name),
  };
}
