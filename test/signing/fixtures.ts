/** Keys, signed requests and re-signed mutations of them, for tests of signing. */
import { sign as cryptoSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import {
  type HeaderFields,
  type Jwk,
  type KeySource,
  memoryReplayStore,
  type SignableRequest,
  signRequestSync,
  signWebhookSync,
  staticKeys,
  type VerifyWebhookOptions,
} from "../../runtime/signing/index.js";

export const NOW = 1_776_520_800;
export const SENDER = "https://seller.example.com/agent";
export const KID = "test-key";

export interface TestKey {
  readonly privateKey: KeyObject;
  readonly jwk: Jwk;
}

export function makeKey(curve: "ed25519" | "P-256" = "ed25519", more: Partial<Jwk> = {}): TestKey {
  const { privateKey, publicKey } =
    curve === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: curve });
  const members = publicKey.export({ format: "jwk" }) as Jwk;
  const alg = curve === "ed25519" ? "EdDSA" : "ES256";
  return {
    privateKey,
    jwk: { ...members, kid: KID, alg, use: "sig", key_ops: ["verify"], proto_use: "request-signing", ...more },
  };
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export const webhook = (more: Partial<SignableRequest> = {}): SignableRequest => ({
  method: "POST",
  url: "https://buyer.example.com/webhooks/op_1?b=2&a=1",
  headers: {},
  body: bytes('{"idempotency_key":"whk_1","task_id":"task_1","status":"completed","result":{"n":1}}'),
  ...more,
});

export type SignedRequest = Omit<SignableRequest, "headers"> & { readonly headers: Record<string, string> };

/** A webhook as it goes out: signed now, by the key, with everything overridable. */
export function signed(key: TestKey, request = webhook(), options: object = {}): SignedRequest {
  const { headers } = signWebhookSync(request, { key: key.privateKey, keyid: KID, now: () => NOW, ...options });
  return { ...request, headers: { ...headers } as Record<string, string> };
}

export function signedCall(key: TestKey, request = webhook(), options: object = {}): SignedRequest {
  const { headers } = signRequestSync(request, { key: key.privateKey, keyid: KID, now: () => NOW, ...options });
  return { ...request, headers: { ...headers } as Record<string, string> };
}

export const keysOf = (...keys: TestKey[]): KeySource =>
  staticKeys(
    keys.map(({ jwk }) => jwk),
    { sender: SENDER },
  );

export const optionsFor = (key: TestKey, more: Partial<VerifyWebhookOptions> = {}): VerifyWebhookOptions => ({
  keys: keysOf(key),
  replay: memoryReplayStore(),
  revocation: { check: () => "good" },
  now: () => NOW,
  ...more,
});

export const withHeaders = (request: SignedRequest, headers: Record<string, string | undefined>): SignedRequest => {
  const all: Record<string, string | undefined> = { ...request.headers, ...headers };
  for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name];
  return { ...request, headers: all as Record<string, string> };
};

/** What a dishonest signer can do: any components and parameters it likes, with a signature that holds over them. */
export function forge(key: TestKey, request: SignedRequest, input: string, base: string): SignedRequest {
  const ec = key.jwk.kty === "EC";
  const made = ec
    ? cryptoSign("sha256", Buffer.from(base), { key: key.privateKey, dsaEncoding: "ieee-p1363" })
    : cryptoSign(null, Buffer.from(base), key.privateKey);
  return withHeaders(request, {
    "Signature-Input": `sig1=${input}`,
    Signature: `sig1=:${made.toString("base64url")}:`,
  });
}

export type { HeaderFields };
