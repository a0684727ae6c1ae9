/** Looks up the header fields a signature is about, whatever shape they come in. */
import type { HeaderFields } from "./types.js";

/** Field values by name: combined as RFC 9110 section 5.2 has it, trimmed. Undefined where the field is absent. */
export interface SigningHeaders {
  signatureInput: string | undefined;
  signature: string | undefined;
  contentType: string | undefined;
  contentDigest: string | undefined;
  /** Host and `:authority` values as received. */
  authorities: string[];
}

const combine = (held: string | undefined, value: string | readonly string[]): string => {
  const text = typeof value === "string" ? value.trim() : value.map((one) => one.trim()).join(", ");
  return held === undefined ? text : `${held}, ${text}`;
};

/** Each field as it is given, one line or several. */
function eachField(headers: HeaderFields, take: (name: string, value: string | readonly string[]) => void): void {
  if (Symbol.iterator in headers) {
    for (const [name, value] of headers as Iterable<readonly [string, string]>) take(name, value);
    return;
  }
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined && value !== null) take(name, value);
  }
}

/** One field's combined value. Names are matched without case, and every spelling counts. */
export function fieldValue(headers: HeaderFields, wanted: string): string | undefined {
  let held: string | undefined;
  eachField(headers, (name, value) => {
    if (name.toLowerCase() === wanted) held = combine(held, value);
  });
  return held;
}

/** Is a field there? */
export function hasField(headers: HeaderFields, wanted: string): boolean {
  const same = (name: string): boolean => name.length === wanted.length && name.toLowerCase() === wanted;
  if (Symbol.iterator in headers) {
    for (const [name] of headers as Iterable<readonly [string, string]>) if (same(name)) return true;
    return false;
  }
  return Object.keys(headers).some((name) => same(name) && headers[name] != null);
}

/** All the fields of a signature in one pass over the headers. */
export function signingHeaders(headers: HeaderFields): SigningHeaders {
  const found: SigningHeaders = {
    signatureInput: undefined,
    signature: undefined,
    contentType: undefined,
    contentDigest: undefined,
    authorities: [],
  };
  eachField(headers, (name, value) => take(found, name, value));
  return found;
}

function take(found: SigningHeaders, name: string, value: string | readonly string[]): void {
  switch (name.toLowerCase()) {
    case "signature-input":
      found.signatureInput = combine(found.signatureInput, value);
      return;
    case "signature":
      found.signature = combine(found.signature, value);
      return;
    case "content-type":
      found.contentType = combine(found.contentType, value);
      return;
    case "content-digest":
      found.contentDigest = combine(found.contentDigest, value);
      return;
    case "host":
    case ":authority":
      for (const one of typeof value === "string" ? [value] : value) found.authorities.push(one.trim());
  }
}

/** Does a media type say JSON? `application/json` and the `+json` types, parameters aside (RFC 6839 section 3.1). */
export const isJsonContentType = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^application\/(?:json|[a-z0-9!#$&^_.+-]+\+json)[ \t]*(?:;|$)/i.test(contentType);
