/** Primitives on WebCrypto: browsers, workers, and any runtime with `globalThis.crypto.subtle`. */
import { encodeBase64Url } from "./base64.js";
import { algorithmOf, type CryptoBackend, privateMembers, publicMembers } from "./crypto.js";
import type { Jwk, SignatureAlgorithm } from "./types.js";

const importParameters = {
  ed25519: { name: "Ed25519" },
  "ecdsa-p256-sha256": { name: "ECDSA", namedCurve: "P-256" },
} as const satisfies Record<SignatureAlgorithm, object>;

const useParameters = {
  ed25519: { name: "Ed25519" },
  "ecdsa-p256-sha256": { name: "ECDSA", hash: "SHA-256" },
} as const satisfies Record<SignatureAlgorithm, object>;

// TypeScript wants to know that the bytes are not in shared memory; none of ours are.
const owned = (data: Uint8Array) => data as Uint8Array<ArrayBuffer>;

const bytesOf = (text: string) => owned(new TextEncoder().encode(text));

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

// No DOM types here, and node's would be the wrong import for a browser.
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;
const isKey = (key: object): key is Key => Object.prototype.toString.call(key) === "[object CryptoKey]";

async function privateKeyOf(key: object) {
  if (isKey(key)) {
    const alg = key.algorithm.name === "Ed25519" ? "ed25519" : "ecdsa-p256-sha256";
    const { name, namedCurve } = key.algorithm as { name: string; namedCurve?: string };
    const known = name === "Ed25519" || (name === "ECDSA" && namedCurve === "P-256");
    if (!known || key.type !== "private") throw new TypeError("not a private Ed25519 or P-256 key");
    return { alg, material: key } as const;
  }
  const alg = algorithmOf(key as Jwk);
  if (alg === undefined || typeof (key as Jwk).d !== "string")
    throw new TypeError("not a private Ed25519 or P-256 JWK");
  const members = privateMembers(key as Jwk, alg);
  return { alg, material: await crypto.subtle.importKey("jwk", members, importParameters[alg], false, ["sign"]) };
}

export const webCrypto: CryptoBackend = {
  sha256: async (data) => encodeBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", owned(data)))),
  hmacSha256: async (secret, data) => {
    const parameters = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", bytesOf(secret), parameters, false, ["sign"]);
    return hex(new Uint8Array(await crypto.subtle.sign("HMAC", key, owned(data))));
  },
  equal: (left, right) => {
    if (left.length !== right.length) return false;
    let difference = 0;
    for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
    return difference === 0;
  },
  randomText: (bytes) => encodeBase64Url(crypto.getRandomValues(new Uint8Array(bytes))),
  importPublic: (jwk, alg) =>
    crypto.subtle.importKey("jwk", publicMembers(jwk, alg), importParameters[alg], true, ["verify"]),
  importPrivate: privateKeyOf,
  verify: (alg, key, text, signature) =>
    crypto.subtle.verify(useParameters[alg], key as Key, owned(signature), bytesOf(text)),
  sign: async (alg, key, text) =>
    encodeBase64Url(new Uint8Array(await crypto.subtle.sign(useParameters[alg], key as Key, bytesOf(text)))),
};
