/**
 * One pass over the bytes of a JSON document for the grammar of RFC 8259, nesting, and whether an object may hold a key
 * twice. It makes no values, which is most of what parsing costs, so a body can be judged before anybody needs it.
 */

/**
 * `fine`: valid, ASCII, every key once. `wide`: the same where its bytes beyond ASCII, which are all in strings, are UTF-8.
 * `suspect`: the grammar holds, and some object may hold a key twice; look closer.
 */
type ScanResult = "fine" | "wide" | "suspect" | "syntax" | "depth";

/** Keys of one object compared here; beyond it a table is cheaper than looking at each. */
const KEYS_COMPARED = 48;
/** In place of a position: the text does not follow the grammar, or nests too deep. */
const INVALID = -1;

// State of the scan in progress. A scan runs to its end without giving way, so one is enough.
let suspect = false;
let tooDeep = false;
/** There are bytes beyond ASCII. */
let wide = false;
/** Hashes of the keys of every object that is open, innermost last. */
let hashes = new Int32Array(1024);
let held = 0;

/**
 * Judges a JSON document.
 * @param maxDepth deepest nesting accepted, in levels
 */
export function scanJson(bytes: Uint8Array, maxDepth: number): ScanResult {
  suspect = false;
  tooDeep = false;
  wide = false;
  held = 0;
  const end = valueEnd(bytes, skipSpace(bytes, 0), maxDepth);
  if (tooDeep) return "depth";
  if (end === INVALID || skipSpace(bytes, end) !== bytes.length) return "syntax";
  return suspect ? "suspect" : wide ? "wide" : "fine";
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

/** What a byte is to a string: 1 and 2 (beyond ASCII) it holds as they are; its quote, an escape and controls are 0. */
const kinds = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte > 0x7f ? 2 : byte >= 0x20 && byte !== 0x22 && byte !== 0x5c ? 1 : 0,
);

/** A key: a string whose hash is compared with those of the keys before it in its object, from `first` on. */
function keyEnd(bytes: Uint8Array, open: number, first: number): number {
  const { length } = bytes;
  let hash = 0;
  let at = open + 1;
  for (; at < length; at++) {
    const byte = bytes[at]!;
    if (kinds[byte] === 0) break;
    if (byte > 0x7f) wide = true;
    hash = ((hash << 5) | (hash >>> 27)) ^ byte;
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
    while (at < length && kinds[bytes[at]!] === 1) at++;
    if (bytes[at]! > 0x7f) {
      wide = true;
      while (at < length && kinds[bytes[at]!] !== 0) at++;
    }
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
