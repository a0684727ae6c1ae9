import { isJsonObject } from "../contract/json-object.js";

export { isJsonObject };

/** A member of a value that may not be an object; own members only, so that no payload reaches a prototype. */
export const member = (value: unknown, name: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
