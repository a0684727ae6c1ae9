/** The few header fields a receiver reads itself. */
import type { HeaderFields } from "../signing/types.js";

/** Value of a field, joined by a comma where it came more than once, as fetch's headers have it; undefined where it is absent. */
export function fieldOf(headers: HeaderFields, wanted: string): string | undefined {
  let found: string | undefined;
  const add = (value: string): void => {
    found = found === undefined ? value : `${found}, ${value}`;
  };
  if (Symbol.iterator in headers) {
    for (const [name, value] of headers as Iterable<readonly [string, string]>) {
      if (name.length === wanted.length && name.toLowerCase() === wanted) add(value);
    }
    return found;
  }
  for (const name of Object.keys(headers)) {
    if (name.length !== wanted.length || name.toLowerCase() !== wanted) continue;
    const value = headers[name];
    if (typeof value === "string") add(value);
    else value?.forEach(add);
  }
  return found;
}

/** Only `application/json` is taken, with parameters or without (docs/protocol/webhooks.md#receiving, 1). */
export const isReceivable = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^[ \t]*application\/json[ \t]*(?:;[^,]*)?$/i.test(contentType);
