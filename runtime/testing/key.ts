/** A seller's key for tests: made anew, published nowhere. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { staticKeys } from "../signing/index.js";
import type { Jwk, KeySource } from "../signing/types.js";

/** A key pair for tests, with the public part as it is published. */
export interface TestKey {
  readonly keyid: string;
  /** The protocol's word, which names the key's purpose and the signature's tag. */
  readonly word: string;
  /** What signs: a private key of node, or a private JWK. */
  readonly privateKey: KeyObject | Jwk;
  /** The public half, as a key set publishes it. */
  readonly jwk: Jwk;
  /** The key set of a sender that has this key alone, for `senders` of a receiver. */
  keysOf(sender: string): KeySource;
}

/**
 * Makes an Ed25519 key.
 * @param word the release's; `proto` by default
 * @param use what it is published for; by default the one purpose that receivers of every release take
 */
export function createTestKey({ keyid = "test-1", word = "proto", use = "webhook-signing" } = {}): TestKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const purpose = { kid: keyid, use: "sig", key_ops: ["verify"], alg: "EdDSA", [`${word}_use`]: use };
  const jwk = { ...publicKey.export({ format: "jwk" }), ...purpose } as Jwk;
  return { keyid, word, privateKey, jwk, keysOf: (sender) => staticKeys([jwk], { sender }) };
}
