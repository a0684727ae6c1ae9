/** The few header fields a receiver reads itself. */
import type { HeaderFields } from "../signing/types.js";

/** First value of a field; undefined where it is absent. */
export function fieldOf(headers: HeaderFields, wanted: string): string | undefined {
  if (Symbol.iterator in headers) {
    for (const [name, value] of headers as Iterable<readonly [string, string]>) {
      if (name.length === wanted.length && name.toLowerCase() === wanted) return value;
    }
    return undefined;
  }
  for (const name of Object.keys(headers)) {
    if (name.length !== wanted.length || name.toLowerCase() !== wanted) continue;
    const value = headers[name];
    return typeof value === "string" ? value : value?.[0];
  }
  return undefined;
}

/** Only `application/json` is taken, with parameters or without (service.md, "Authentication", 8). */
export const isReceivable = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^[ \t]*application\/json[ \t]*(?:;[^,]*)?$/i.test(contentType);
