/** A condition as a person says it: which fields demand what of which. */
import type { Condition, Json, Shape } from "../model/shape.js";
import { listed } from "./change.js";
import { type FlatProperty, flatten } from "./flat.js";
import type { ShapePart } from "./part.js";

/** Fields that a sentence names before it says how many more there are. */
const MOST = 4;

const some = (names: readonly string[]): string =>
  names.slice(0, MOST).join(", ") + (names.length > MOST ? ` and ${names.length - MOST} more` : "");

const valuesText = (values: readonly Json[]): string =>
  values.length === 1 ? `is ${listed(values)}` : `is one of ${listed(values, MOST)}`;

function fieldText(name: string, { parts, required }: FlatProperty): string {
  const flat = flatten(parts);
  if (flat.never) return `no ${name}`;
  if (flat.values !== undefined) return `${name} ${valuesText(flat.values)}`;
  return required || flat.properties.size === 0 ? name : `${name} with ${some([...flat.properties.keys()])}`;
}

/** What a shape asks of a value, as far as its fields tell. */
function asked(shape: Shape, of: ShapePart["of"], depth = 0): string {
  const flat = flatten([{ shape, of }]);
  const said = [...flat.properties].map(([name, property]) => fieldText(name, property));
  if (flat.values !== undefined) said.push(`it ${valuesText(flat.values)}`);
  if (flat.items.length > 0) said.push(`items of a kind`);
  if (depth < 2) {
    for (const { union } of flat.unions)
      said.push(
        union.members
          .slice(0, 3)
          .map((member) => asked(member, of, depth + 1))
          .join(" or "),
      );
    for (const { condition } of flat.conditions) said.push(conditionText(condition, of, depth + 1));
  }
  if (flat.patterns.size > 0) said.push(`a text like ${some([...flat.patterns])}`);
  for (const [bound, limit] of flat.bounds) said.push(`${bound} ${limit}`);
  return said.length === 0
    ? flat.never
      ? "nothing"
      : `${[...(flat.kinds ?? ["anything"])].join(" or ")}`
    : some(said);
}

function counted({ least = 1, most }: Extract<Condition, { kind: "contains" }>): string {
  if (least === 1 && most === undefined) return "an item";
  return most === undefined ? `${least} items at least` : `${least} to ${most} items`;
}

/** @returns one clause, without a full stop */
export function conditionText(condition: Condition, of: ShapePart["of"], depth = 0): string {
  switch (condition.kind) {
    case "if": {
      const { test, whenTrue, whenFalse } = condition;
      const then = whenTrue === undefined ? [] : [`it demands ${asked(whenTrue, of, depth)}`];
      const otherwise = whenFalse === undefined ? [] : [`otherwise ${asked(whenFalse, of, depth)}`];
      return `with ${asked(test, of, depth)} ${[...then, ...otherwise].join(", ") || "it demands nothing"}`;
    }
    case "not":
      return `never ${asked(condition.shape, of, depth)}`;
    case "contains":
      return `${counted(condition)} with ${asked(condition.shape, of, depth)}`;
    case "names":
      return `names that are ${asked(condition.shape, of, depth)}`;
    case "needs":
      return `${condition.property} demands ${some(condition.properties)}`;
    case "entails":
      return `${condition.property} demands ${asked(condition.shape, of, depth)}`;
  }
}
