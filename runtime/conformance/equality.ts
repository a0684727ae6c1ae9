/** When two values of JSON are the same, as storyboards mean it: deeply, without coercion, the order of keys set aside. */
import { isJsonObject } from "../contract/index.js";

export function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => isSame(item, right[index]));
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]))
  );
}

/** Scalars equal, objects a subset of fields, arrays a subset of items in any order. */
export function includes(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return Array.isArray(value) && wanted.every((one) => value.some((item) => includes(item, one)));
  if (isJsonObject(wanted))
    return (
      isJsonObject(value) &&
      Object.entries(wanted).every(([key, one]) => Object.hasOwn(value, key) && includes(value[key], one))
    );
  return isSame(value, wanted);
}
