/** Webhooks for the receiver's benches: about 2 KB each, valid under the release, signed as a seller signs. */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { signWebhookSync, staticKeys } from "../../runtime/signing/index.js";

export const SENDER = "https://seller.example/agent";
export const PUBLIC_URL = "http://127.0.0.1:8080";
export const ROUTE = "/webhooks/buys";
export const KEYID = "bench-1";

/** @param purposed what the key says it is for, where its verifier wants more than we do */
export const makeKeys = (purposed: object = {}): { privateKey: KeyObject; jwk: object } => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const purpose = {
    kid: KEYID,
    use: "sig",
    key_ops: ["verify"],
    alg: "EdDSA",
    proto_use: "request-signing",
    ...purposed,
  };
  return { privateKey, jwk: { ...publicKey.export({ format: "jwk" }), ...purpose } };
};

export const keySource = (jwk: object) => staticKeys([jwk as never], { sender: SENDER });

const packages = Array.from({ length: 9 }, (_, at) => ({
  package_id: `pkg_${1000 + at}`,
  product_id: "ctv_sports_premium_us",
  budget: 12_500 * (at + 1),
  pacing: "even",
  start_time: "2026-12-01T00:00:00Z",
  end_time: "2026-12-31T23:59:59Z",
}));

/** A finished `create_media_buy`. */
export const eventBody = (): Buffer =>
  Buffer.from(
    JSON.stringify({
      idempotency_key: randomUUID(),
      operation_id: "op_0d7a3c1e",
      task_id: `task_${randomUUID()}`,
      task_type: "create_media_buy",
      domain: "media-buy",
      status: "completed",
      timestamp: "2026-11-21T09:30:00Z",
      message: "Media buy created with 9 packages; creatives are due by 2026-11-28.",
      result: { media_buy_id: "mb_2026_11_0042", confirmed_at: "2026-11-21T09:30:00Z", revision: 1, packages },
    }),
  );

export interface SignedEvent {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

interface SigningChoices {
  readonly nowSeconds?: number;
  readonly word?: string;
}

export function signedEvent(key: KeyObject, choices: SigningChoices = {}): SignedEvent {
  const { nowSeconds = Math.floor(Date.now() / 1000), word = "proto" } = choices;
  const body = eventBody();
  const request = { method: "POST", url: PUBLIC_URL + ROUTE, headers: {}, body };
  const { headers } = signWebhookSync(request, { key, keyid: KEYID, word, now: () => nowSeconds });
  return { headers: { host: "127.0.0.1:8080", ...headers }, body };
}

/** What `crypto.verify` gets of an event: the floor of every verifier. */
export function rawEvent(key: KeyObject): { base: Buffer; signature: Buffer } {
  const request = { method: "POST", url: PUBLIC_URL + ROUTE, headers: {}, body: eventBody() };
  const base = Buffer.from(signWebhookSync(request, { key, keyid: KEYID }).signatureBase);
  return { base, signature: sign(null, base, key) };
}
