/** Objects as JSON has them. */

export type JsonObject = { [key: string]: unknown };

/** An object of JSON's: neither null nor an array. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A field that a type does not declare: of a later release, a platform's own, or one whose name is known at run time only.
 * Own fields only, so that no name reaches a prototype.
 * @returns undefined where there is no such field, and where `data` is no object
 */
export const extra = (data: unknown, field: string): unknown =>
  typeof data === "object" && data !== null && Object.hasOwn(data, field) ? (data as JsonObject)[field] : undefined;
