/** Demands that depend on the value -> a sentence each. */
import type { Condition, Shape } from "../model/shape.js";
import { valueText } from "./type-text.js";

const MOST = 4;

const listed = (texts: readonly string[], word: string): string => {
  const shown = texts.slice(0, MOST);
  if (texts.length > MOST) return `${shown.join(", ")} and ${texts.length - MOST} more`;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} ${word} ${shown.at(-1)}`;
};

/** What a shape asks of a value, as far as a sentence can say it. */
function asks(shape: Shape, depth = 0): string[] {
  if (depth > 3) return [];
  switch (shape.kind) {
    case "const":
      return [`is ${valueText(shape.value)}`];
    case "enum":
      return [`is ${listed(shape.values.map(valueText), "or")}`];
    case "object":
      return shape.properties.flatMap(({ name, required, shape: inner }) => {
        const said = asks(inner, depth + 1);
        if (inner.kind === "never") return [`${name} is not there`];
        if (said.length > 0) return said.map((one) => (one.startsWith("is ") ? `${name} ${one}` : `${name}: ${one}`));
        return required ? [`${name} is there`] : [];
      });
    case "all":
      return shape.parts.flatMap((part) => asks(part, depth + 1));
    case "union": {
      const each = shape.members.map((member) => asks(member, depth + 1).join(" and "));
      return each.some((one) => one === "") ? [] : [listed(each, "or")];
    }
    case "array":
      return asks(shape.items, depth + 1).map((one) => `each item: ${one}`);
    case "any":
      return (shape.conditions ?? []).flatMap((one) => (one.kind === "not" ? negated(one.shape, depth) : []));
    case "scalar":
    case "map":
    case "tuple":
    case "never":
    case "reference":
      return [];
  }
}

const negated = (shape: Shape, depth: number): string[] => {
  const said = asks(shape, depth + 1);
  return said.length === 0 ? [] : [`not: ${listed(said, "and")}`];
};

const more = "more is demanded (the schema says what)";

function ifText({ test, whenTrue, whenFalse }: Extract<Condition, { kind: "if" }>): string[] {
  const when = asks(test);
  const premise = when.length === 0 ? "In some cases" : `When ${listed(when, "and")}`;
  const then = whenTrue === undefined ? [] : asks(whenTrue);
  const otherwise = whenFalse === undefined ? [] : asks(whenFalse);
  return [
    ...(whenTrue === undefined ? [] : [`${premise}: ${then.length === 0 ? more : listed(then, "and")}`]),
    ...(whenFalse === undefined
      ? []
      : [
          `${premise === "In some cases" ? "In the others" : "Otherwise"}: ${otherwise.length === 0 ? more : listed(otherwise, "and")}`,
        ]),
  ];
}

function conditionText(condition: Condition): string[] {
  switch (condition.kind) {
    case "if":
      return ifText(condition);
    case "not": {
      const said = asks(condition.shape);
      return [said.length === 0 ? "Some values are refused (the schema says which)" : `Not: ${listed(said, "and")}`];
    }
    case "contains": {
      const said = asks(condition.shape);
      const what = said.length === 0 ? "of a kind that the schema says" : `where ${listed(said, "and")}`;
      const { least = 1, most } = condition;
      return [`${most === undefined ? `At least ${least}` : `From ${least} to ${most}`} of the items ${what}`];
    }
    case "names":
      return [
        condition.shape.kind === "scalar" && condition.shape.pattern !== undefined
          ? `Names match ${condition.shape.pattern}`
          : "Names are of a kind that the schema says",
      ];
    case "needs":
      return [`With ${condition.property}, ${listed(condition.properties, "and")} must be there too`];
    case "entails": {
      const said = asks(condition.shape);
      return [`With ${condition.property}: ${said.length === 0 ? more : listed(said, "and")}`];
    }
  }
}

/** @returns a sentence each, without a full stop */
export const conditionTexts = ({ conditions = [] }: Shape): string[] => conditions.flatMap(conditionText);
