/** Claims and nonces are clustered by short fixed keys; what senders choose is hashed down to them. */
import { hash } from "node:crypto";

/** 128 bits: a collision inside one sender's window would silently drop an event, and stays out of reach. */
const KEY_BYTES = 16;

export const claimDigest = (idempotencyKey: string): Buffer =>
  hash("sha256", idempotencyKey, "buffer").subarray(0, KEY_BYTES);

/** Nonces this short are kept as they are; a signer could send kilobytes. */
const NONCE_CHARACTERS = 64;

export const nonceKey = (nonce: string): string =>
  nonce.length <= NONCE_CHARACTERS ? nonce : `sha256:${hash("sha256", nonce, "base64url")}`;

/** Whose a nonce's keyid is: it is the sender, a blank, and the sender's own name of the key; one without a blank is its own. */
export const senderOfKeyid = (keyid: string): string => {
  const blank = keyid.indexOf(" ");
  return blank < 0 ? keyid : keyid.slice(0, blank);
};

/** Part of names, for what is not to be read in them. */
const DIGEST_CHARACTERS = 22;

/** A principal, or a URL, in the name of an endpoint. */
export const ownerDigest = (text: string): string => hash("sha256", text, "base64url").slice(0, DIGEST_CHARACTERS);

/** Whose calls are under which idempotency keys: no two principals share one. */
export const callScope = (principal: string): string => hash("sha256", principal, "base64url");
