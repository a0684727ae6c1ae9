/** JSON objects as they come off the wire. */
import type { JsonObject } from "../contract/index.js";

/** An object that is no array: what may be read by its members. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
