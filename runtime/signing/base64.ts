/**
 * Base64 as the signing profile has it (docs/protocol/signing.md#encodings): unpadded base64url out, one alphabet in. No
 * platform helper: they forgive what must be refused.
 */

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const values = new Uint8Array(128).fill(255);
for (let index = 0; index < 64; index++) values[alphabet.charCodeAt(index)] = index;

/** Unpadded base64url. */
export function encodeBase64Url(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const bits = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text += alphabet[bits >> 18]! + alphabet[(bits >> 12) & 63]!;
    if (left > 1) text += alphabet[(bits >> 6) & 63];
    if (left > 2) text += alphabet[bits & 63];
  }
  return text;
}

/** Unpadded base64url in the standard alphabet with padding, for those who know no other. */
export function padded(token: string): string {
  const text = token.replaceAll("-", "+").replaceAll("_", "/");
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}

/**
 * Rewrites a token of either alphabet as unpadded base64url.
 * @returns undefined for a token that mixes the alphabets (any of `+ / =` with any of `- _`) or is padded wrongly
 */
export function toBase64Url(token: string): string | undefined {
  if (/^[A-Za-z0-9_-]*$/.test(token)) return token.length % 4 === 1 ? undefined : token;
  const found = /^([A-Za-z0-9+/]*)(={0,2})$/.exec(token);
  if (!found || found[1]!.length % 4 === 1) return undefined;
  if (found[2] !== "" && token.length % 4 !== 0) return undefined;
  return found[1]!.replaceAll("+", "-").replaceAll("/", "_");
}

/** Is this base64url without padding, with no bits set beyond the last byte? One value then has one spelling. */
export function isBase64Url(text: string): boolean {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return false;
  const last = values[text.charCodeAt(text.length - 1)]!;
  const rest = text.length % 4;
  return rest === 0 || (rest === 2 && (last & 15) === 0) || (rest === 3 && (last & 3) === 0);
}

/** Decodes what `isBase64Url` accepts. */
export function decodeBase64Url(text: string): Uint8Array {
  const bytes = new Uint8Array((text.length * 3) >> 2);
  let out = 0;
  let bits = 0;
  let held = 0;
  for (let at = 0; at < text.length; at++) {
    bits = (bits << 6) | values[text.charCodeAt(at)]!;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes[out++] = bits >> held;
  }
  return bytes;
}
