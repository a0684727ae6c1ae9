/** Whom an action is for, and what a plan says of that. */
import { isJsonObject } from "../../contract/index.js";
import type { SpendingPlan } from "./plan.js";
import { mentions, wordsWithin } from "./vocabulary.js";

type Json = { readonly [key: string]: unknown };

/** What chooses people in the targeting of a package, by the names of the fields. Who is too young is kept out, not chosen. */
const choosing = /audience|signal|demographic/;

const overlaysIn = ({ packages }: Json): Json[] =>
  (Array.isArray(packages) ? packages.filter(isJsonObject) : [])
    .map((one) => one.targeting_overlay)
    .filter(isJsonObject);

/**
 * The parts of an action that choose the people it reaches.
 * @param payload arguments of the tool that is about to be called
 * @param planned what the seller says it will deliver
 */
export const peopleIn = (payload: Json, planned: Json): unknown[] => [
  ...overlaysIn(payload).flatMap((overlay) =>
    Object.entries(overlay).flatMap(([name, value]) => (choosing.test(name) ? [value] : [])),
  ),
  ...[planned.audience_targeting ?? planned.audience_summary].filter((one) => one !== undefined),
];

/** What a plan says of people that an action does not keep to, or that nobody here can see. */
export interface PeopleFinding {
  readonly explanation: string;
  /** It is so, and has to change; else it is only not known to be well. */
  readonly sure: boolean;
}

/** @param people the parts that choose them; nothing is said of an action without any */
export function peopleFindings(plan: SpendingPlan, people: readonly unknown[]): PeopleFinding[] {
  if (people.length === 0) return [];
  const { restricted_attributes = [], restricted_attributes_custom: custom = [], min_audience_size: least } = plan;
  // Some are said by the name of a field: `{ "age": ... }`.
  const [words, attributes] = [wordsWithin(JSON.stringify(people)), [...restricted_attributes, ...custom]];
  const named = attributes.filter((attribute) =>
    mentions(words, attribute.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "_")),
  );
  return [
    ...(named.length > 0
      ? [{ explanation: `The plan has nobody chosen by ${named.join(", ")}.`, sure: true }]
      : attributes.length > 0
        ? [{ explanation: `Whether people are chosen by ${attributes.join(", ")} cannot be seen here.`, sure: false }]
        : []),
    ...(plan.audience === undefined
      ? []
      : [{ explanation: "How the audiences compare with those of the plan cannot be seen here.", sure: false }]),
    ...(least === undefined
      ? []
      : [{ explanation: `Whether at least ${least} people are reached cannot be seen here.`, sure: false }]),
  ];
}
