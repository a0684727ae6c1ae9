/**
 * Standard Webhooks, symmetric, as senders and relays outside the protocol speak it: one HMAC-SHA256 over id, timestamp and
 * body. No release registers it by `authentication.schemes`; two parties agree on it, and the registration says so.
 */
import { type Coroutine, wait } from "../db/coroutine.js";
import { AdbindError } from "../errors.js";
import { decodeBase64Url, encodeBase64Url, isBase64Url, padded, toBase64Url } from "./base64.js";
import type { CryptoBackend } from "./crypto.js";
import { fieldValue } from "./headers.js";
import { checkSecret, isSigned, type LegacyResult, mismatch, TIMESTAMP_SKEW_SECONDS, verifiedBody } from "./legacy.js";
import type { HmacSecrets, SignableRequest } from "./types.js";
import { refusal, systemSeconds } from "./verify.js";

const ID = "webhook-id";
const TIMESTAMP = "webhook-timestamp";
const SIGNATURE = "webhook-signature";
const SECRET_PREFIX = "whsec_";
/** A secret's bytes, as the standard bounds them. */
const SECRET_BYTES = { least: 24, most: 64 } as const;
/** Signatures of one delivery that are looked at: rotation needs two. */
const MAX_SIGNATURES = 8;

/** Secret and id of a delivery by Standard Webhooks. */
export interface StandardSignOptions {
  /** `whsec_` and 24 to 64 random bytes in base64. */
  readonly secret: string;
  /** Names the message: the same at each of its attempts. No full stop, which divides what is signed. */
  readonly id: string;
  /** Unix seconds; the system clock by default. */
  readonly now?: () => number;
}

/** Secrets that a delivery by Standard Webhooks may be signed with. */
export interface StandardVerifyOptions {
  /** As they were given out, `whsec_...`. */
  readonly secrets: HmacSecrets;
  /** Identity the credential is bound to. */
  readonly sender?: string;
  /** Unix seconds; the system clock by default. */
  readonly now?: () => number;
}

/**
 * The key of a secret.
 * @throws AdbindError `secret_weak` for one that is no `whsec_` secret of 24 to 64 random bytes; the message never holds it
 */
export function standardKey(secret: string, where: string): Uint8Array {
  const text = secret.startsWith(SECRET_PREFIX) ? toBase64Url(secret.slice(SECRET_PREFIX.length)) : undefined;
  const key = text !== undefined && isBase64Url(text) ? decodeBase64Url(text) : undefined;
  if (key === undefined || key.length < SECRET_BYTES.least || key.length > SECRET_BYTES.most) {
    throw new AdbindError("secret_weak", "The secret is none of Standard Webhooks", {
      where,
      remedy: `make it of ${SECRET_PREFIX} and 24 to 64 random bytes, for example \`openssl rand -base64 32\``,
    });
  }
  checkSecret(text!, where);
  return key;
}

function signed(id: string, timestamp: string, body: Uint8Array): Uint8Array {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const joined = new Uint8Array(head.length + body.length);
  joined.set(head);
  joined.set(body, head.length);
  return joined;
}

/** Hex as the backend gives it, in the alphabet the headers carry. */
function base64Of(hex: string): string {
  const bytes = Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16));
  return padded(encodeBase64Url(bytes));
}

/** The three headers of a delivery. @throws AdbindError `secret_weak`, `webhook_id_invalid` */
export function* standardHeaders(
  body: Uint8Array,
  { secret, id, now = systemSeconds }: StandardSignOptions,
  backend: CryptoBackend,
): Coroutine<Record<string, string>> {
  const key = standardKey(secret, "secret");
  if (!/^[\x21-\x2d\x2f-\x7e]{1,255}$/.test(id)) {
    throw new AdbindError("webhook_id_invalid", "The id cannot be sent as webhook-id", {
      where: "id",
      remedy: "use 1 to 255 printable ASCII characters, and no full stop",
    });
  }
  const timestamp = String(Math.floor(now()));
  const mac = yield* wait(backend.hmacSha256(key, signed(id, timestamp, body)));
  return { [ID]: id, [TIMESTAMP]: timestamp, [SIGNATURE]: `v1,${base64Of(mac)}` };
}

/** Verifies a delivery of a registration for Standard Webhooks. */
export function* standardVerification(
  request: Pick<SignableRequest, "headers" | "body">,
  { secrets: { current, previous }, sender, now = systemSeconds }: StandardVerifyOptions,
  backend: CryptoBackend,
): Coroutine<LegacyResult> {
  const keys = [standardKey(current, "secrets.current")];
  if (previous !== undefined) keys.push(standardKey(previous, "secrets.previous"));
  const [id, timestamp, signature] = [ID, TIMESTAMP, SIGNATURE].map((name) => fieldValue(request.headers, name));
  if (id === undefined && timestamp === undefined && signature === undefined && isSigned(request)) {
    return mismatch("signature");
  }
  if (!id || !timestamp || !signature) return refusal("hmac_signature_missing", 0);
  if (!/^[0-9]{1,15}$/.test(timestamp) || Math.abs(Math.floor(now()) - Number(timestamp)) > TIMESTAMP_SKEW_SECONDS) {
    return refusal("hmac_timestamp_invalid", 0);
  }
  // Of other versions, the asymmetric `v1a` among them, nothing is known here.
  const given = signature
    .split(" ", MAX_SIGNATURES)
    .flatMap((one) => (one.startsWith("v1,") ? [one.slice("v1,".length)] : []));
  const message = signed(id, timestamp, request.body);
  let holds = false;
  // All are compared whatever the first says: time must not tell which secret is in use.
  for (const key of keys) {
    const expected = base64Of(yield* wait(backend.hmacSha256(key, message)));
    for (const one of given) holds = backend.equal(expected, one) || holds;
  }
  return holds ? verifiedBody(request.body, sender) : refusal("hmac_signature_invalid", 0);
}
