import type { JsonObject } from "../contract/index.js";

/** An object of JSON's: neither null nor an array. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member of a value that may not be an object; own members only, so that no payload reaches a prototype. */
export const member = (value: unknown, name: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
