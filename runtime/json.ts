/**
 * Strict JSON over bytes: UTF-8 must be valid, object keys unique at any depth, nesting bounded. What `JSON.parse` takes
 * for granted is where two readers of one signed body disagree.
 */

import { scanJson } from "./json-scan.js";

/** Deepest nesting accepted. Real payloads reach about 10; recursion in later readers stays far from any stack limit. */
export const MAX_DEPTH_LEVELS = 256;

export interface JsonMalformed {
  readonly ok: false;
  readonly reason: "utf8" | "syntax" | "duplicate_keys" | "depth";
  /** Safe to log: holds nothing of the body but sanitised key names. */
  readonly detail: string;
  /** Duplicated keys, sanitised, at most four and a count of the rest. */
  readonly keys?: readonly string[];
}

export type JsonResult = { readonly ok: true; readonly value: unknown } | JsonMalformed;

// The byte order mark is kept, so that the grammar refuses it: some readers skip one and some do not.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const decode = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
};

/**
 * Judges bytes as strict JSON without making the value.
 * @param bytes the document, UTF-8
 * @param maxDepth deepest nesting accepted, in levels
 * @returns what is wrong; undefined where `JSON.parse` of the decoded text gives the one value there is
 */
export function strictFault(bytes: Uint8Array, maxDepth = MAX_DEPTH_LEVELS): JsonMalformed | undefined {
  const found = scanJson(bytes, maxDepth);
  if (found === "fine") return undefined;
  const text = decode(bytes);
  if (text === undefined) return fault("utf8", `the body is not valid UTF-8 (${bytes.length} bytes)`);
  switch (found) {
    case "wide":
      return undefined;
    case "syntax":
      return fault("syntax", `the body is not JSON (${bytes.length} bytes)`);
    case "depth":
      return fault("depth", `the body nests deeper than ${maxDepth} levels`);
    case "suspect": {
      const doubled = duplicateKeys(text);
      if (doubled.length === 0) return undefined;
      const keys = safeKeyNames(doubled);
      return { ...fault("duplicate_keys", `duplicate object keys: ${keys.join(", ")}`), keys };
    }
  }
}

const fault = (reason: JsonMalformed["reason"], detail: string): JsonMalformed => ({ ok: false, reason, detail });

/**
 * Parses bytes as strict JSON.
 * @param bytes the document, UTF-8
 * @param maxDepth deepest nesting accepted, in levels
 * @returns the value, or why there is none; it never throws
 */
export const parseStrict = (bytes: Uint8Array, maxDepth = MAX_DEPTH_LEVELS): JsonResult =>
  strictFault(bytes, maxDepth) ?? { ok: true, value: valueOfStrict(bytes) };

/** The value of bytes `strictFault` found nothing wrong with. */
export const valueOfStrict = (bytes: Uint8Array): unknown => JSON.parse(utf8.decode(bytes));

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Index of the quote that closes the string opened at `open`. The text is valid JSON, so there is one. */
function closingQuote(text: string, open: number): number {
  let end = text.indexOf('"', open + 1);
  while (text.charCodeAt(end - 1) === BACKSLASH) {
    let slashes = 1;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) break;
    end = text.indexOf('"', end + 1);
  }
  return end;
}

/** Is the string that closes at `end` a key? Only white space may stand between it and its colon. */
function isKey(text: string, end: number): boolean {
  let at = end + 1;
  let code = text.charCodeAt(at);
  while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++at);
  return code === COLON;
}

/**
 * Names, decoded, that occur more than once in one object of a valid JSON text; each once, in order of appearance.
 * `"a"` and `"\u0061"` are one name.
 */
function duplicateKeys(text: string): string[] {
  const doubled = new Set<string>();
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "{") open.push(new Set());
    else if (char === "[") open.push(null);
    else if (char === "}" || char === "]") open.pop();
    else if (text.charCodeAt(at) === QUOTE) {
      const end = closingQuote(text, at);
      const names = open.at(-1);
      if (names && isKey(text, end)) {
        const name: string = JSON.parse(text.slice(at, end + 1));
        if (names.has(name)) doubled.add(name);
        names.add(name);
      }
      at = end;
    }
  }
  return [...doubled];
}

/** Longest key name shown, in bytes of UTF-8. */
const NAME_LIMIT_BYTES = 32;
/** Names shown before the rest is only counted. */
const NAMES_SHOWN = 4;
// Controls, zero-width and direction marks, separators, byte order mark: what can forge or hide a line of a log.
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

/**
 * A key name of untrusted JSON made safe to log: `<sanitized:N>` from the first unprintable character on, N being the
 * bytes before it; else at most 32 bytes, cut between characters.
 */
export function safeKeyName(name: string): string {
  const found = unprintable.exec(name);
  if (found) return `<sanitized:${utf8Length(name.slice(0, found.index))}>`;
  let kept = "";
  let bytes = 0;
  for (const char of name) {
    bytes += utf8Length(char);
    if (bytes > NAME_LIMIT_BYTES) break;
    kept += char;
  }
  return kept;
}

/** At most four names made safe to log, then how many more there are. */
export function safeKeyNames(names: readonly string[]): string[] {
  const shown = names.slice(0, NAMES_SHOWN).map(safeKeyName);
  return names.length > NAMES_SHOWN ? [...shown, `<...${names.length - NAMES_SHOWN} more>`] : shown;
}
