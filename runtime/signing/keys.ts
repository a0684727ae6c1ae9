/** Published keys: their purpose, a static set of them, and their imported forms. */

import { isJsonObject } from "../contract/json-object.js";
import { type Coroutine, wait } from "../db/coroutine.js";
import { AdbindError } from "../errors.js";
import { algorithmTable, type CryptoBackend } from "./crypto.js";
import type { Jwk, JwkSet, KeyResolution, KeySource, SignatureAlgorithm, VerificationKey } from "./types.js";

/**
 * Wraps a published key for `KeySource.resolve`. Make one per key and keep it: the imported form is stored on it.
 * @param revokedAt unix seconds; signatures created at or after it are refused
 */
export const verificationKey = (jwk: Jwk, revokedAt?: number): VerificationKey =>
  revokedAt === undefined ? { jwk } : { jwk, revokedAt };

/**
 * Step 8: may this key verify signatures of this algorithm and purpose? (docs/protocol/signing.md#key-purposes)
 * @param useMember the key's purpose member, `<word>_use`
 * @param uses values it may have
 * @returns what is wrong; undefined when the key may be used
 */
export function keyPurposeFault(
  jwk: Jwk,
  alg: SignatureAlgorithm,
  useMember: string,
  uses: readonly string[],
): string | undefined {
  if (jwk.use !== "sig") return "the key's use is not sig";
  if (!Array.isArray(jwk.key_ops) || !jwk.key_ops.includes("verify")) return "the key's key_ops lack verify";
  const use = jwk[useMember];
  if (typeof use !== "string" || !uses.includes(use)) return `the key's ${useMember} is not ${uses.join(" or ")}`;
  const wanted = algorithmTable[alg];
  if (jwk.alg !== wanted.alg) return `the key's alg is not ${wanted.alg}, which ${alg} needs`;
  if (jwk.kty !== wanted.kty || jwk.crv !== wanted.crv) return `the key's kty and crv do not make an ${wanted.alg} key`;
  return undefined;
}

const codes: readonly unknown[] = ["key_unknown", "unavailable", "untrusted"] satisfies Extract<
  KeyResolution,
  { ok: false }
>["code"][];

/** What a key source answered, whoever wrote it: anything that `KeyResolution` does not have is no answer. */
export function declaredResolution(answer: unknown): KeyResolution {
  const { ok, code, key, sender } = isJsonObject(answer) ? answer : {};
  const found =
    ok === true && typeof sender === "string" && sender !== "" && isJsonObject(key) && isJsonObject(key.jwk);
  if (found || (ok === false && codes.includes(code))) return answer as KeyResolution;
  return { ok: false, code: "unavailable", detail: "the key source answers something undeclared" };
}

interface Imported {
  readonly backend: CryptoBackend;
  readonly alg: SignatureAlgorithm;
  readonly material: unknown;
}

/**
 * The key as the backend wants it, imported once.
 * Throws where the JWK's members make no key.
 */
export function* importVerificationKey(
  key: VerificationKey,
  alg: SignatureAlgorithm,
  backend: CryptoBackend,
): Coroutine<unknown> {
  const held = key.imported as Imported | undefined;
  if (held !== undefined && held.backend === backend && held.alg === alg) return held.material;
  const material = yield* wait(backend.importPublic(key.jwk, alg));
  key.imported = { backend, alg, material } satisfies Imported;
  return material;
}

/** Whose keys they are. */
export interface StaticKeysOptions {
  /** Identity of whoever these keys belong to: its agent URL. */
  readonly sender: string;
}

/**
 * Keys that are known beforehand. They answer at once, so verification stays synchronous.
 * @throws AdbindError `key_set_invalid` when a key has no `kid` or two share one
 */
export function staticKeys(keys: JwkSet | readonly Jwk[], { sender }: StaticKeysOptions): KeySource {
  const list: readonly Jwk[] = Array.isArray(keys) ? keys : (keys as JwkSet).keys;
  const byKid = new Map<string, VerificationKey>();
  for (const jwk of list) {
    if (typeof jwk.kid !== "string" || jwk.kid === "" || byKid.has(jwk.kid)) {
      throw new AdbindError("key_set_invalid", `The kid ${JSON.stringify(jwk.kid)} is missing or not unique`, {
        where: sender,
        remedy: "give every key a kid of its own",
      });
    }
    byKid.set(jwk.kid, verificationKey(jwk));
  }
  return {
    resolve(keyid) {
      const key = byKid.get(keyid);
      return key === undefined ? { ok: false, code: "key_unknown" } : { ok: true, key, sender };
    },
  };
}
