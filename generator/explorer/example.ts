/** A valid example of a message: the release's own where there is one, else one that is made; validators have the last word. */
import { always, type DiffJudge, mended } from "../diff/mend.js";
import { sample } from "../diff/sample.js";
import { smallest } from "../diff/witness.js";
import type { Resolve, Shape } from "../model/shape.js";
import type { Json } from "../model/shape.js";

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
    if (typeof one !== "object" || one === null || Array.isArray(one) || !Object.hasOwn(one, "data")) return [{ value: one }];
    const title = one.description ?? one.title;
    return [{ value: one.data!, ...(typeof title === "string" && { title }) }, { value: one }];
  });
  return given
    .filter(({ value }) => judge(ref, value).length === 0)
    .slice(0, MOST_OWN)
    .map((one) => ({ ...one, from: "release" as const }));
}

function madeExample({ ref, resolve, judge }: Asked): Example | undefined {
  const shape = resolve(ref);
  if (shape === undefined) return undefined;
  const side = { ref, judge, part: { shape, of: resolve } };
  for (const full of LEVELS) {
    const value = sample([side.part], { full });
    if (!mended(value, [side], always) || judge(ref, value).length > 0) continue;
    if (JSON.stringify(value).length <= MOST_BYTES) return { value, from: "made" };
  }
  const least = smallest(side);
  return least === undefined || judge(ref, least).length > 0 ? undefined : { value: least, from: "made" };
}

/** @returns nothing where no valid one is known */
export function examplesOf(asked: Asked): Example[] {
  const own = ownExamples(asked);
  if (own.length > 0) return own;
  const made = madeExample(asked);
  return made === undefined ? [] : [made];
}
