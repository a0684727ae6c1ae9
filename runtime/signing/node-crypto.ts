/** Primitives on node:crypto: synchronous, so a verification of cached keys never leaves the stack. */
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  hash,
  KeyObject,
  randomBytes,
  randomFillSync,
  sign,
  timingSafeEqual,
  verify,
} from "node:crypto";
import { algorithmOf, type CryptoBackend, privateMembers, publicMembers } from "./crypto.js";
import { derOf, fixedOf } from "./ecdsa.js";
import type { Jwk, SignatureAlgorithm } from "./types.js";

const privateKeyOf = (key: object): { alg: SignatureAlgorithm; material: KeyObject } => {
  if (!(key instanceof KeyObject)) {
    const alg = algorithmOf(key as Jwk);
    if (alg === undefined || typeof (key as Jwk).d !== "string")
      throw new TypeError("not a private Ed25519 or P-256 JWK");
    return { alg, material: createPrivateKey({ key: privateMembers(key as Jwk, alg), format: "jwk" }) };
  }
  if (key.type !== "private") throw new TypeError(`a private key is needed, this one is ${key.type}`);
  if (key.asymmetricKeyType === "ed25519") return { alg: "ed25519", material: key };
  if (key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1") {
    return { alg: "ecdsa-p256-sha256", material: key };
  }
  throw new TypeError(`keys of type ${key.asymmetricKeyType} are not allowed`);
};

// ASCII either way, and this is the encoding node copies fastest.
const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");

// Asked for `ieee-p1363`, node takes the key in an object and reads that anew at each call, which costs as much as signing
// does. So signatures are asked for in DER, the default, and rewritten here.

function verifyEcdsa(key: KeyObject, bytes: Buffer, signature: Uint8Array): boolean {
  const der = derOf(signature);
  return der !== undefined && verify("sha256", bytes, key, der);
}

/** Random bytes taken ahead: asking for a few costs as much as asking for thousands. */
const RANDOM_BYTES = 4096;

/** Hands out random bytes, each once. */
function randomTexts(): (bytes: number) => string {
  const ahead = Buffer.alloc(RANDOM_BYTES);
  let next = RANDOM_BYTES;
  return (bytes) => {
    if (bytes > RANDOM_BYTES) return randomBytes(bytes).toString("base64url");
    if (next + bytes > RANDOM_BYTES) {
      randomFillSync(ahead);
      next = 0;
    }
    next += bytes;
    return ahead.toString("base64url", next - bytes, next);
  };
}

const hashOf: Readonly<Record<SignatureAlgorithm, string | null>> = { ed25519: null, "ecdsa-p256-sha256": "sha256" };

const signatureText = (alg: SignatureAlgorithm, bytes: Buffer): string =>
  (alg === "ed25519" ? bytes : fixedOf(bytes)).toString("base64url");

export const nodeCrypto: CryptoBackend = {
  sha256: (data) => hash("sha256", data, "base64url"),
  hmacSha256: (secret, data) => createHmac("sha256", secret).update(data).digest("hex"),
  equal: (left, right) => {
    const [a, b] = [Buffer.from(left), Buffer.from(right)];
    return a.length === b.length && timingSafeEqual(a, b);
  },
  randomText: randomTexts(),
  importPublic: (jwk, alg) => createPublicKey({ key: publicMembers(jwk, alg), format: "jwk" }),
  importPrivate: privateKeyOf,
  verify: (alg, key, text, signature) =>
    alg === "ed25519"
      ? verify(null, bytesOf(text), key as KeyObject, signature)
      : verifyEcdsa(key as KeyObject, bytesOf(text), signature),
  sign: (alg, key, text) => signatureText(alg, sign(hashOf[alg], bytesOf(text), key as KeyObject)),
};

/** For who can wait: signatures are made in a thread of libuv's, and this one goes on meanwhile. */
export const nodeCryptoAside: CryptoBackend = {
  ...nodeCrypto,
  sign: (alg, key, text) =>
    new Promise((resolve, reject) => {
      sign(hashOf[alg], bytesOf(text), key as KeyObject, (error, bytes) => {
        if (error === null) resolve(signatureText(alg, bytes));
        else reject(error);
      });
    }),
};
