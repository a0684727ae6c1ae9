/**
 * The three structured fields of a signature (RFC 8941, RFC 9421 section 4, RFC 9530), parsed as strictly as the profile
 * asks. A regular expression reads the one spelling every signer emits; anything else goes through `structured-headers`
 * behind a scanner that refuses what that parser lets through: repeated labels, algorithms and parameters, numbers that
 * are no integers, and binary tokens of two alphabets.
 */
import { parseDictionary } from "structured-headers";
import { decodeBase64Url, isBase64Url, padded, toBase64Url } from "./base64.js";

/** The one label the profile knows; others are ignored. */
export const LABEL = "sig1";

export interface SignatureParams {
  readonly created?: number;
  readonly expires?: number;
  readonly nonce?: string;
  readonly keyid?: string;
  readonly alg?: string;
  readonly tag?: string;
}

export interface SignatureInput {
  /** Covered component names in order; one with parameters stands with them (`@method;req`) and so equals no plain name. */
  readonly components: readonly string[];
  readonly params: SignatureParams;
  /** Inner list and parameters as received: the value of `@signature-params`. */
  readonly text: string;
}

/** Why a field is malformed. */
export class Malformed {
  constructor(readonly detail: string) {}
}

const usual =
  /^sig1=(\((?:"@method" "@target-uri" "@authority" "content-type"( "content-digest")?)\);created=([0-9]{1,15});expires=([0-9]{1,15});nonce="([A-Za-z0-9_-]+)";keyid="([\x20\x21\x23-\x5b\x5d-\x7e]*)";alg="([A-Za-z0-9-]+)";tag="([A-Za-z0-9/._-]+)")$/;

const fourComponents = ["@method", "@target-uri", "@authority", "content-type"] as const;
const fiveComponents = [...fourComponents, "content-digest"] as const;

/** Reads `Signature-Input`. */
export function parseSignatureInput(field: string): SignatureInput | Malformed {
  const found = usual.exec(field);
  if (found === null) return parseSignatureInputGenerally(field);
  const [, text, digest, created, expires, nonce, keyid, alg, tag] = found;
  return {
    components: digest === undefined ? fourComponents : fiveComponents,
    params: { created: Number(created), expires: Number(expires), nonce: nonce!, keyid: keyid!, alg: alg!, tag: tag! },
    text: text!,
  };
}

/** @internal the general path of `parseSignatureInput`; tests compare the two */
export function parseSignatureInputGenerally(field: string): SignatureInput | Malformed {
  const scanned = readDictionary(field, "Signature-Input");
  if (scanned instanceof Malformed) return scanned;
  const member = scanned.members.get(LABEL);
  if (member === undefined) return new Malformed(`Signature-Input has no label ${LABEL}`);
  const [list] = scanned.parsed.get(LABEL)!;
  if (!Array.isArray(list)) return new Malformed(`Signature-Input: ${LABEL} is not an inner list`);
  const components: string[] = [];
  for (const [name, params] of list) {
    if (typeof name !== "string") return new Malformed("a covered component is not a quoted name");
    components.push(params.size === 0 ? name : `${name};${[...params.keys()].join(";")}`);
  }
  if (new Set(components).size !== components.length) return new Malformed("a component is covered twice");
  const params = readParams(scanned.parsed.get(LABEL)![1], member.params);
  return params instanceof Malformed ? params : { components, params, text: member.text };
}

const stringParams = ["nonce", "keyid", "alg", "tag"] as const;
const integerParams = ["created", "expires"] as const;

function readParams(parsed: ReadonlyMap<string, unknown>, raw: readonly Param[]): SignatureParams | Malformed {
  if (new Set(raw.map(({ name }) => name)).size !== raw.length)
    return new Malformed("a signature parameter is given twice");
  const spelled = new Map(raw.map(({ name, text }) => [name, text]));
  const params: Record<string, unknown> = {};
  for (const name of stringParams) {
    if (!parsed.has(name)) continue;
    if (typeof parsed.get(name) !== "string") return new Malformed(`the parameter ${name} is not a quoted string`);
    params[name] = parsed.get(name);
  }
  for (const name of integerParams) {
    if (!parsed.has(name)) continue;
    // The parser makes 1.0 and 1 the same number, and a date of @1; only 1 is an integer.
    if (!/^-?[0-9]{1,15}$/.test(spelled.get(name) ?? ""))
      return new Malformed(`the parameter ${name} is not an integer`);
    params[name] = parsed.get(name);
  }
  return params;
}

// A signature or digest of another length is no error of grammar: it fails where it is compared.

/** Alphabets of binary values: `standard` takes base64 with its padding alone, in every member of a field. */
export type Alphabets = "either" | "standard";

/** Reads the signature of label `sig1` out of `Signature`. */
export function parseSignature(field: string, alphabets: Alphabets = "either"): Uint8Array | Malformed {
  if (alphabets === "standard") {
    const token = standardToken(field, /^sig1=:([A-Za-z0-9+/]{86})==:$/, "Signature", LABEL);
    return token instanceof Malformed ? token : signatureBytes(token);
  }
  const found = /^sig1=:([A-Za-z0-9_-]*):$/.exec(field);
  return found ? signatureBytes(found[1]!) : parseSignatureGenerally(field);
}

/** @internal the general path of `parseSignature`; tests compare the two */
export function parseSignatureGenerally(field: string): Uint8Array | Malformed {
  const token = binaryMember(field, "Signature", LABEL);
  return token instanceof Malformed ? token : signatureBytes(token);
}

/** Reads the SHA-256 digest out of `Content-Digest`, as unpadded base64url; other algorithms are ignored. */
export function parseContentDigest(field: string, alphabets: Alphabets = "either"): string | Malformed {
  if (alphabets === "standard") {
    const token = standardToken(field, /^sha-256=:([A-Za-z0-9+/]{43})=:$/, "Content-Digest", "sha-256");
    return token instanceof Malformed ? token : digestText(token);
  }
  const ours = /^sha-256=:([A-Za-z0-9_-]*):$/.exec(field);
  if (ours !== null) return digestText(ours[1]!);
  // What most other signers send: the standard alphabet, padded.
  const standard = /^sha-256=:([A-Za-z0-9+/]{43})=:$/.exec(field);
  if (standard === null) return parseContentDigestGenerally(field);
  return digestText(urlAlphabet(standard[1]!));
}

/** @internal the general path of `parseContentDigest`; tests compare the two */
export function parseContentDigestGenerally(field: string): string | Malformed {
  const token = binaryMember(field, "Content-Digest", "sha-256");
  return token instanceof Malformed ? token : digestText(token);
}

const digestText = (token: string): string | Malformed =>
  isBase64Url(token) ? token : new Malformed("the SHA-256 digest is not canonical base64");

const signatureBytes = (token: string): Uint8Array | Malformed =>
  isBase64Url(token) ? decodeBase64Url(token) : new Malformed("the signature is not canonical base64");

/**
 * The byte sequence of one label under a profile that follows RFC 8941 to the letter, as unpadded base64url.
 * @param usual the one spelling that needs no scanner; its first group is the token without padding
 */
function standardToken(field: string, usual: RegExp, name: string, label: string): string | Malformed {
  const found = usual.exec(field);
  if (found !== null) return urlAlphabet(found[1]!);
  const scanned = scanDictionary(field);
  if (scanned === undefined) return new Malformed(`${name} is not a dictionary of distinct labels`);
  // A parser of structured fields gives up on the whole field, whichever member is spelled otherwise.
  for (const { text } of scanned.values()) {
    const [, token] = /^:([^:]*):/.exec(text) ?? [];
    if (token !== undefined && !isStandard(token)) return new Malformed(`${name} is not in padded standard base64`);
  }
  return binaryMember(field, name, label);
}

const isStandard = (token: string): boolean => token.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(token);

const urlAlphabet = (token: string): string => token.replaceAll("+", "-").replaceAll("/", "_");

/** The byte sequence of one label, as unpadded base64url. */
function binaryMember(field: string, name: string, label: string): string | Malformed {
  const scanned = readDictionary(field, name);
  if (scanned instanceof Malformed) return scanned;
  const member = scanned.parsed.get(label);
  if (member === undefined) return new Malformed(`${name} has no member ${label}`);
  const found = /^:([^:]*):/.exec(scanned.members.get(label)!.text);
  if (!(member[0] instanceof ArrayBuffer) || found === null)
    return new Malformed(`${name}: ${label} is not a byte sequence`);
  return toBase64Url(found[1]!) ?? new Malformed(`${name}: ${label} mixes base64 alphabets`);
}

interface Param {
  readonly name: string;
  readonly text: string;
}

interface Member {
  /** A label alone stands for true. */
  readonly assigned: boolean;
  /** As received, without surrounding white space. */
  readonly text: string;
  readonly params: readonly Param[];
}

/** Scans, refuses what the parser would forgive, and parses. */
function readDictionary(field: string, name: string) {
  const members = scanDictionary(field);
  if (members === undefined) return new Malformed(`${name} is not a dictionary of distinct labels`);
  const plain = [...members]
    .map(([label, { assigned, text }]) => `${label}${assigned ? "=" : ""}${plainBinary(text)}`)
    .join(", ");
  try {
    return { members, parsed: parseDictionary(plain) };
  } catch {
    return new Malformed(`${name} does not follow the grammar of structured fields`);
  }
}

/** A byte sequence starts a value, so these stand before it; elsewhere a colon is part of a token. */
const beforeBinary = new Set(["", "=", "(", " "]);

/**
 * The text with every byte sequence in the alphabet RFC 8941 knows. One that mixes alphabets becomes empty: whoever wants
 * it reads the text as received and refuses it, and nobody else is to trip over it.
 */
function plainBinary(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|:[^:]*:/g, (match, offset: number) => {
    if (match.startsWith('"') || !beforeBinary.has(text.charAt(offset - 1))) return match;
    const token = toBase64Url(match.slice(1, -1)) ?? "";
    return `:${isBase64Url(token) ? padded(token) : ""}:`;
  });
}

/** Splits a dictionary at its top-level commas; undefined where it is none, or a label comes twice. */
function scanDictionary(field: string): Map<string, Member> | undefined {
  const members = new Map<string, Member>();
  let at = 0;
  for (;;) {
    const label = matchAt(/[ \t]*([a-z*][a-z0-9_.*-]*)(=?)/y, field, at);
    if (label === undefined || members.has(label[1]!)) return undefined;
    const start = at + label[0].length;
    const end = memberEnd(field, start);
    if (end === undefined) return undefined;
    const text = field.slice(start, end.at).replace(/[ \t]+$/, "");
    const params = end.semicolons.map((from) => paramAt(field, from, end));
    members.set(label[1]!, { assigned: label[2] === "=", text, params });
    if (end.at === field.length) return members;
    at = end.at + 1;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

interface MemberEnd {
  readonly at: number;
  /** Where the member's own parameters start: its semicolons outside parentheses, strings and binary tokens. */
  readonly semicolons: readonly number[];
}

function memberEnd(field: string, start: number): MemberEnd | undefined {
  const semicolons: number[] = [];
  let depth = 0;
  let at = start;
  for (; at < field.length; at++) {
    const char = field[at]!;
    if (char === '"') {
      const string = matchAt(/"(?:[^"\\]|\\.)*"/y, field, at);
      if (string === undefined) return undefined;
      at += string[0].length - 1;
    } else if (char === ":" && beforeBinary.has(at === start ? "" : field[at - 1]!)) {
      at = field.indexOf(":", at + 1);
      if (at === -1) return undefined;
    } else if (char === "(") depth++;
    else if (char === ")") depth--;
    else if (char === "," && depth === 0) break;
    else if (char === ";" && depth === 0) semicolons.push(at);
  }
  return depth === 0 ? { at, semicolons } : undefined;
}

function paramAt(field: string, semicolon: number, end: MemberEnd): Param {
  const next = end.semicolons.find((other) => other > semicolon) ?? end.at;
  const [name = "", ...value] = field.slice(semicolon + 1, next).split("=");
  return { name: name.trim(), text: value.join("=").trim() };
}
