/** A valid example of a message: the release's own where there is one, else one that is made; validators have the last word. */
import { always, type DiffJudge, mended } from "../diff/mend.js";
import { sample } from "../diff/sample.js";
import { smallest } from "../diff/witness.js";
import type { Json, Resolve, Shape } from "../model/shape.js";

export interface Example {
  readonly value: Json;
  /** `release`: the release shows it; `made`: made from the schema. Both were validated. */
  readonly from: "release" | "made";
  readonly title?: string;
}

/** Examples of a release that are shown; the rest repeat them. */
const MOST_OWN = 3;

/** Levels of optional properties that a made example has: the first that is valid and no longer than this is shown. */
const LEVELS = [2, 1, 0];
const MOST_BYTES = 6000;

interface Asked {
  readonly ref: string;
  readonly resolve: Resolve;
  readonly judge: DiffJudge;
}

function ownExamples({ ref, resolve, judge }: Asked): Example[] {
  const held: Shape | undefined = resolve(ref);
  // Some releases write an example with its title around it, under `data`.
  const given = (held?.examples ?? []).flatMap((one): { value: Json; title?: string }[] => {
    if (typeof one !== "object" || one === null || Array.isArray(one) || !Object.hasOwn(one, "data"))
      return [{ value: one }];
    const title = one.description ?? one.title;
    return [{ value: one.data!, ...(typeof title === "string" && { title }) }, { value: one }];
  });
  return given
    .filter(({ value }) => judge(ref, value).length === 0)
    .slice(0, MOST_OWN)
    .map((one) => ({ ...one, from: "release" as const }));
}

/** What stands under names that people know the kind of; the rest is called as its field is. */
const likely: readonly [RegExp, (name: string) => string][] = [
  [/(^|_)(url|uri|href|link|endpoint|webhook)s?$/, () => "https://agent.example/path"],
  [/(^|_)(domain|host)s?$/, () => "brand.example"],
  [/(^|_)email$/, () => "somebody@brand.example"],
  [/(^|_)key$/, (name) => `${name.replaceAll("_", "-")}-0001`],
  [/(^|_)currency$/, () => "EUR"],
  [/(^|_)(country|countries|region)$/, () => "DE"],
  [/(^|_)(language|locale)s?$/, () => "en"],
  [/(^|_)version$/, () => "1.0"],
  [/(^|_)ids?$/, (name) => `${name.replace(/_?ids?$/, "") || "item"}-1`],
];

/** Texts that only a program would write: the first that fits a length, or a date where none was asked for. */
const isPlaceholder = (text: string, name: string): boolean =>
  /^a+$/.test(text) ||
  (/^\d{4}-\d{2}-\d{2}/.test(text) && !/time|date|_at$|_on$|start|end|until|since|expires/.test(name));

const likelyText = (name: string): string =>
  likely.find(([pattern]) => pattern.test(name))?.[1](name) ?? name.replaceAll("_", " ");

/** Gives texts of a made example a likely look, each where it stays valid. */
function dress(value: Json, valid: () => boolean, name = ""): void {
  if (typeof value !== "object" || value === null) return;
  const holder = value as Record<string, Json>;
  for (const [key, held] of Object.entries(holder)) {
    const called = Array.isArray(value) ? name : key;
    if (typeof held === "object") dress(held, valid, called);
    else if (typeof held === "string" && isPlaceholder(held, called)) {
      holder[key] = likelyText(called);
      if (!valid()) holder[key] = held;
    }
  }
}

function dressed(value: Json, { ref, judge }: Asked): Json {
  const copy = structuredClone(value);
  dress(copy, () => judge(ref, copy).length === 0);
  return copy;
}

function madeExample(asked: Asked): Example | undefined {
  const { ref, resolve, judge } = asked;
  const shape = resolve(ref);
  if (shape === undefined) return undefined;
  const side = { ref, judge, part: { shape, of: resolve } };
  for (const full of LEVELS) {
    const value = sample([side.part], { full });
    if (!mended(value, [side], always) || judge(ref, value).length > 0) continue;
    if (JSON.stringify(value).length <= MOST_BYTES) return { value: dressed(value, asked), from: "made" };
  }
  const least = smallest(side);
  return least === undefined || judge(ref, least).length > 0
    ? undefined
    : { value: dressed(least, asked), from: "made" };
}

/** @returns nothing where no valid one is known */
export function examplesOf(asked: Asked): Example[] {
  const own = ownExamples(asked);
  if (own.length > 0) return own;
  const made = madeExample(asked);
  return made === undefined ? [] : [made];
}
