/**
 * Strict JSON over bytes: UTF-8 must be valid, object keys unique at any depth, nesting bounded. What `JSON.parse` takes
 * for granted is where two readers of one signed body disagree.
 */

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
  const text = decode(bytes);
  if (text === undefined) return fault("utf8", `the body is not valid UTF-8 (${bytes.length} bytes)`);
  switch (scanJson(bytes, maxDepth)) {
    case "fine":
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

// The scan: one pass over the bytes for the grammar of RFC 8259, nesting, and whether an object may hold a key twice. It
// makes no values, which is most of what parsing costs, so a body can be judged before anybody needs it.

/**
 * `fine`: valid, every key once. `suspect`: valid, and some object may hold a key twice; look closer.
 * Bytes beyond ASCII are accepted inside strings: whether they are UTF-8 is the caller's to know.
 */
type ScanResult = "fine" | "suspect" | "syntax" | "depth";

/** Keys of one object compared here; beyond it a table is cheaper than looking at each. */
const KEYS_COMPARED = 48;
/** In place of a position: the text does not follow the grammar, or nests too deep. */
const INVALID = -1;

// State of the scan in progress. A scan runs to its end without giving way, so one is enough.
let suspect = false;
let tooDeep = false;
/** Hashes of the keys of every object that is open, innermost last. */
let hashes = new Int32Array(1024);
let held = 0;

/**
 * Judges a JSON document.
 * @param maxDepth deepest nesting accepted, in levels
 */
function scanJson(bytes: Uint8Array, maxDepth: number): ScanResult {
  suspect = false;
  tooDeep = false;
  held = 0;
  const end = valueEnd(bytes, skipSpace(bytes, 0), maxDepth);
  if (tooDeep) return "depth";
  if (end === INVALID || skipSpace(bytes, end) !== bytes.length) return "syntax";
  return suspect ? "suspect" : "fine";
}

// Every function below takes the position its part starts at and returns the one after it, or INVALID. Reading past the
// end gives undefined, which equals no byte and is in no range.

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) break;
    at++;
  }
  return at;
}

function valueEnd(bytes: Uint8Array, at: number, levels: number): number {
  switch (bytes[at]) {
    case 0x22:
      return stringEnd(bytes, at);
    case 0x7b:
      return objectEnd(bytes, at, levels);
    case 0x5b:
      return arrayEnd(bytes, at, levels);
    case 0x74:
      return wordEnd(bytes, at, "true");
    case 0x66:
      return wordEnd(bytes, at, "false");
    case 0x6e:
      return wordEnd(bytes, at, "null");
    default:
      return numberEnd(bytes, at);
  }
}

function wordEnd(bytes: Uint8Array, at: number, word: string): number {
  for (let index = 1; index < word.length; index++) if (bytes[at + index] !== word.charCodeAt(index)) return INVALID;
  return at + word.length;
}

function deep(): number {
  tooDeep = true;
  return INVALID;
}

function arrayEnd(bytes: Uint8Array, open: number, levels: number): number {
  if (levels === 0) return deep();
  let at = skipSpace(bytes, open + 1);
  if (bytes[at] === 0x5d) return at + 1;
  for (;;) {
    at = valueEnd(bytes, at, levels - 1);
    if (at === INVALID) return INVALID;
    at = skipSpace(bytes, at);
    if (bytes[at] === 0x5d) return at + 1;
    if (bytes[at] !== 0x2c) return INVALID;
    at = skipSpace(bytes, at + 1);
  }
}

function objectEnd(bytes: Uint8Array, open: number, levels: number): number {
  if (levels === 0) return deep();
  const first = held;
  let at = skipSpace(bytes, open + 1);
  if (bytes[at] === 0x7d) return at + 1;
  for (;;) {
    if (bytes[at] !== 0x22) return INVALID;
    at = keyEnd(bytes, at, first);
    if (at === INVALID) return INVALID;
    if (bytes[at] !== 0x3a) at = skipSpace(bytes, at);
    if (bytes[at] !== 0x3a) return INVALID;
    at = valueEnd(bytes, skipSpace(bytes, at + 1), levels - 1);
    if (at === INVALID) return INVALID;
    at = skipSpace(bytes, at);
    if (bytes[at] === 0x7d) break;
    if (bytes[at] !== 0x2c) return INVALID;
    at = skipSpace(bytes, at + 1);
  }
  held = first;
  return at + 1;
}

/** Bytes a string holds as they are: neither its quote, nor an escape, nor a control. */
const plain = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x20 && byte !== 0x22 && byte !== 0x5c ? 1 : 0));

/** A key: a string whose hash is compared with those of the keys before it in its object, from `first` on. */
function keyEnd(bytes: Uint8Array, open: number, first: number): number {
  const { length } = bytes;
  let hash = 0;
  let at = open + 1;
  for (; at < length; at++) {
    const byte = bytes[at]!;
    if (plain[byte] === 0) break;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  if (bytes[at] !== 0x22) {
    // Escapes give one name several spellings; they are rare in keys, and the closer look decodes them.
    suspect = true;
    return stringEnd(bytes, open);
  }
  if (!suspect) remember(hash, first);
  return at + 1;
}

function remember(hash: number, first: number): void {
  if (held - first >= KEYS_COMPARED) suspect = true;
  for (let other = first; other < held; other++) if (hashes[other] === hash) suspect = true;
  if (held === hashes.length) {
    const grown = new Int32Array(held * 2);
    grown.set(hashes);
    hashes = grown;
  }
  hashes[held++] = hash;
}

function stringEnd(bytes: Uint8Array, open: number): number {
  const { length } = bytes;
  let at = open + 1;
  for (;;) {
    while (at < length && plain[bytes[at]!] === 1) at++;
    if (bytes[at] === 0x22) return at + 1;
    if (bytes[at] !== 0x5c) return INVALID;
    const escaped = escapeLength(bytes, at + 1);
    if (escaped === 0) return INVALID;
    at += 1 + escaped;
  }
}

/** Bytes of an escape after its backslash; 0 for one that does not exist. */
function escapeLength(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case 0x22:
    case 0x5c:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return 1;
    case 0x75:
      for (let digit = at + 1; digit <= at + 4; digit++) if (!isHex(bytes[digit])) return 0;
      return 5;
    default:
      return 0;
  }
}

const isHex = (byte: number | undefined): boolean =>
  byte !== undefined &&
  ((byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66));

function numberEnd(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === 0x2d ? start + 1 : start;
  at = bytes[at] === 0x30 ? at + 1 : digitsEnd(bytes, at);
  if (at !== INVALID && bytes[at] === 0x2e) at = digitsEnd(bytes, at + 1);
  if (at === INVALID || (bytes[at] !== 0x65 && bytes[at] !== 0x45)) return at;
  const signed = bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d;
  return digitsEnd(bytes, signed ? at + 2 : at + 1);
}

/** At least one digit. */
function digitsEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++;
  return at === start ? INVALID : at;
}
