/** Statements of the agent's own, signed so that whoever is shown one can tell whose it is: JWS (RFC 7515). */
import { createPrivateKey, sign } from "node:crypto";
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "./call.js";

interface SigningKey {
  /** Private JWK. */
  readonly key: object;
  readonly keyid: string;
}

/** Curves of keys that agents sign with, and what JWS calls signatures by them. */
const algorithms = {
  ed25519: { alg: "EdDSA", digest: null },
  ec: { alg: "ES256", digest: "sha256" },
} as const;

const encode = (text: string): string => Buffer.from(text).toString("base64url");

/**
 * The header and the signature of a payload.
 * @param typ what sort of statement it is, as its header says
 * @param payload its text, as it is signed
 */
export function jwsOf(
  { key, keyid }: SigningKey,
  typ: string,
  payload: string,
): { readonly protected: string; readonly signature: string } {
  const own = createPrivateKey({ key: { ...key }, format: "jwk" });
  const { alg, digest } = algorithms[own.asymmetricKeyType === "ec" ? "ec" : "ed25519"];
  const head = encode(JSON.stringify({ alg, typ, kid: keyid }));
  // JWS has the two numbers of an ECDSA signature side by side, not as DER.
  const signature = sign(digest, Buffer.from(`${head}.${encode(payload)}`), { key: own, dsaEncoding: "ieee-p1363" });
  return { protected: head, signature: signature.toString("base64url") };
}

/** Header, payload and signature in one line. */
export function compactJws({ signing }: Pick<BehaviourCall, "signing">, typ: string, body: JsonObject): string {
  const payload = JSON.stringify(body);
  const { protected: head, signature } = jwsOf(signing, typ, payload);
  return `${head}.${encode(payload)}.${signature}`;
}
