/** Whether a value is as a shape says: shapes alone are asked, so that what a reader made of schemas can be judged. */
import { isDeepStrictEqual } from "node:util";
import type { Condition, MapShape, ObjectShape, Resolve, ScalarShape, Shape } from "../../generator/model/shape.js";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const within = (value: number, min: number | undefined, max: number | undefined): boolean =>
  (min === undefined || value >= min) && (max === undefined || value <= max);

const isType = (value: unknown, type: string): boolean => {
  if (type === "null") return value === null;
  if (type === "integer") return typeof value === "number" && Number.isInteger(value);
  return typeof value === type;
};

function scalarHolds(shape: ScalarShape, value: unknown): boolean {
  if (!shape.types.some((type) => isType(value, type))) return false;
  if (typeof value === "string") {
    const length = [...value].length;
    return (
      within(length, shape.minLength, shape.maxLength) &&
      (shape.pattern === undefined || new RegExp(shape.pattern, "u").test(value))
    );
  }
  if (typeof value !== "number") return true;
  const quotient = value / (shape.multipleOf ?? 1);
  return (
    within(value, shape.minimum, shape.maximum) &&
    (shape.exclusiveMinimum === undefined || value > shape.exclusiveMinimum) &&
    (shape.exclusiveMaximum === undefined || value < shape.exclusiveMaximum) &&
    (shape.multipleOf === undefined || Number.isInteger(quotient))
  );
}

export function holds(shape: Shape, value: unknown, resolve: Resolve): boolean {
  const inner = (one: Shape, held: unknown): boolean => holds(one, held, resolve);
  const objectHolds = (one: ObjectShape | MapShape, held: Record<string, unknown>): boolean => {
    const declared = new Map(
      (one.kind === "object" ? one.properties : []).map((property) => [property.name, property]),
    );
    for (const { name, required } of declared.values()) if (required && !Object.hasOwn(held, name)) return false;
    const names = Object.keys(held);
    if (!within(names.length, one.minProperties, one.maxProperties)) return false;
    return names.every((name) => {
      const property = declared.get(name);
      const patterns = (one.patterns ?? []).filter(({ pattern }) => new RegExp(pattern, "u").test(name));
      if (!patterns.every(({ shape: wanted }) => inner(wanted, held[name]))) return false;
      if (property?.declared === true) return inner(property.shape, held[name]);
      if (patterns.length > 0) return true;
      return one.openness === "open" && (one.rest === undefined || inner(one.rest, held[name]));
    });
  };
  const listHolds = (one: Extract<Shape, { kind: "array" | "tuple" }>, held: unknown[]): boolean => {
    if (!within(held.length, one.minItems, one.maxItems)) return false;
    if (one.unique === true && held.some((a, at) => held.slice(at + 1).some((b) => isDeepStrictEqual(a, b))))
      return false;
    return held.every((element, at) => inner(one.kind === "array" ? one.items : (one.items[at] ?? one.rest), element));
  };
  const bare = (): boolean => {
    switch (shape.kind) {
      case "any":
        return true;
      case "never":
        return false;
      case "const":
        return isDeepStrictEqual(shape.value, value);
      case "enum":
        return shape.values.some((one) => isDeepStrictEqual(one, value));
      case "scalar":
        return shape.lenient === true && !shape.types.some((type) => isType(value, type))
          ? true
          : scalarHolds(shape, value);
      case "object":
      case "map":
        return isObject(value) ? objectHolds(shape, value) : shape.lenient === true;
      case "array":
      case "tuple":
        return Array.isArray(value) ? listHolds(shape, value) : shape.lenient === true;
      case "union": {
        const count = shape.members.filter((member) => inner(member, value)).length;
        return shape.mode === "any" ? count > 0 : count === 1;
      }
      case "all":
        return shape.parts.every((part) => inner(part, value));
      case "reference":
        return inner(resolve(shape.to)!, value);
    }
  };
  return bare() && (shape.conditions ?? []).every((condition) => conditionHolds(condition, value, inner));
}

function conditionHolds(
  condition: Condition,
  value: unknown,
  inner: (shape: Shape, value: unknown) => boolean,
): boolean {
  switch (condition.kind) {
    case "if": {
      const branch = inner(condition.test, value) ? condition.whenTrue : condition.whenFalse;
      return branch === undefined || inner(branch, value);
    }
    case "not":
      return !inner(condition.shape, value);
    case "contains":
      return !Array.isArray(value) || value.some((one) => inner(condition.shape, one));
    case "names":
      return !isObject(value) || Object.keys(value).every((name) => inner(condition.shape, name));
    case "needs":
      return (
        !isObject(value) ||
        !Object.hasOwn(value, condition.property) ||
        condition.properties.every((name) => Object.hasOwn(value, name))
      );
    case "entails":
      return !isObject(value) || !Object.hasOwn(value, condition.property) || inner(condition.shape, value);
  }
}
