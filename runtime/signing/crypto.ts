/** The few primitives signing needs, so that the same core runs on node:crypto, synchronously, and on WebCrypto. */
import type { MaybePromise } from "../contract/index.js";
import type { Jwk, SignatureAlgorithm } from "./types.js";

export interface CryptoBackend {
  /** SHA-256 as unpadded base64url. */
  sha256(data: Uint8Array): MaybePromise<string>;
  /** HMAC-SHA256 as lower-case hex. */
  hmacSha256(secret: string, data: Uint8Array): MaybePromise<string>;
  /** Equality in time that does not depend on where two texts of one length differ. */
  equal(left: string, right: string): boolean;
  /** Unpadded base64url of that many random bytes, which no other text had. */
  randomText(bytes: number): string;
  /** Imports a public key of the algorithm's type. Throws or rejects on key material that is none. */
  importPublic(jwk: Jwk, alg: SignatureAlgorithm): MaybePromise<object>;
  /** Imports a private key: a JWK with `d`, or the platform's own key object. Throws or rejects where it is not one. */
  importPrivate(key: object): MaybePromise<{ readonly alg: SignatureAlgorithm; readonly material: unknown }>;
  /**
   * Ed25519 over the text; ECDSA over its SHA-256, signature as r||s (RFC 9421 sections 3.3.4 and 3.3.6).
   * @param text a signature base, which is ASCII
   */
  verify(alg: SignatureAlgorithm, key: unknown, text: string, signature: Uint8Array): MaybePromise<boolean>;
  /** @returns the signature as unpadded base64url */
  sign(alg: SignatureAlgorithm, key: unknown, text: string): MaybePromise<string>;
}

/** Names of one key type in JOSE's terms (RFC 7518, RFC 8037) and in RFC 9421's. */
export const algorithmTable = {
  ed25519: { kty: "OKP", crv: "Ed25519", alg: "EdDSA" },
  "ecdsa-p256-sha256": { kty: "EC", crv: "P-256", alg: "ES256" },
} as const satisfies Record<SignatureAlgorithm, { kty: string; crv: string; alg: string }>;

export const isAlgorithm = (name: string): name is SignatureAlgorithm => Object.hasOwn(algorithmTable, name);

/** The algorithm a key of this type signs with, if any. */
export function algorithmOf(key: { readonly kty?: unknown; readonly crv?: unknown }): SignatureAlgorithm | undefined {
  const { ed25519, "ecdsa-p256-sha256": es256 } = algorithmTable;
  if (key.kty === ed25519.kty && key.crv === ed25519.crv) return "ed25519";
  return key.kty === es256.kty && key.crv === es256.crv ? "ecdsa-p256-sha256" : undefined;
}

/** The members that make the key, and no others: an importer may stumble over `use`, `key_ops` or members of the protocol. */
export const publicMembers = (jwk: Jwk, alg: SignatureAlgorithm) => ({
  kty: algorithmTable[alg].kty,
  crv: algorithmTable[alg].crv,
  x: String(jwk.x),
  ...(alg === "ecdsa-p256-sha256" && { y: String(jwk.y) }),
});

export const privateMembers = (jwk: Jwk, alg: SignatureAlgorithm) => ({
  ...publicMembers(jwk, alg),
  d: String(jwk.d),
});
