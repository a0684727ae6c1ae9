/** Pieces of the schemas that the type compiler is given. */
import type { Json } from "../../model/shape.js";

/** A schema of the kind the type compiler reads. */
export type Rendered = { [keyword: string]: unknown };

export const ANY: Rendered = { tsType: "unknown" };
export const NEVER: Rendered = { tsType: "never" };
/** One word for what would take three lines, wherever it is used. */
export const ANYTHING_NAMED: Rendered = { tsType: "Record<string, unknown>" };

/** An object of these properties and, to a type, no others. */
export const sealed = (body: { properties: Record<string, Rendered>; required: string[] }): Rendered => ({
  type: "object",
  ...body,
  additionalProperties: false,
});

/** A type, or any value of some further kinds. */
export const orKinds = (type: Rendered, kinds: readonly string[]): Rendered =>
  kinds.length === 0
    ? type
    : { anyOf: [type, ...kinds.map((kind) => (kind === "object" ? ANYTHING_NAMED : { type: kind }))] };

/** A list without elements. */
export const EMPTY: Rendered = { tsType: "[]" };

/** What an index signature needs for the sake of optional properties. */
export const ABSENT: Rendered = { tsType: "undefined" };

const isScalar = (value: Json): boolean => typeof value !== "object" || value === null;

const isNegative = (value: Json): boolean => typeof value === "number" && (value < 0 || Object.is(value, -0));

/**
 * JSON is TypeScript's syntax for its own type, which serves where a value is more than a scalar, or less than 0. In
 * parentheses: the type compiler puts `[]` and `&` beside it as it stands.
 */
export const literals = (values: readonly Json[]): Rendered =>
  values.length === 0
    ? NEVER
    : values.every((value) => isScalar(value) && !isNegative(value))
      ? { enum: values }
      : { tsType: `(${values.map((value) => JSON.stringify(value)).join(" | ")})` };
