/** `signing_keys` of an entry. */
import { isJsonObject } from "../../contract/json-object.js";
import { textOf } from "./values.js";

const MAX_KEYS = 20;
/** Of a key's members, in characters. */
const MAX_NAME = 255;
const MAX_KEY_MEMBER = 2_048;

/** The keys that an entry pins, as far as each can be one; what else a key says is kept in bounds. */
export function signingKeysOf(value: unknown): object[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_KEYS).flatMap((key) => {
    if (!isJsonObject(key) || textOf(key.kid, MAX_NAME) === undefined || textOf(key.kty, MAX_NAME) === undefined)
      return [];
    const members = Object.entries(key).filter(
      ([name, member]) => name.length <= MAX_NAME && textOf(member, MAX_KEY_MEMBER) !== undefined,
    );
    return [Object.fromEntries(members)];
  });
}
