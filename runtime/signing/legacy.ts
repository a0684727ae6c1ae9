/**
 * The deprecated schemes HMAC-SHA256 and Bearer (docs/protocol/signing.md#legacy-schemes). A registration chooses them;
 * they are never a fallback for a signature that fails. Removed with release 4.0.
 */
import { wireNames } from "../contract/index.js";
import { type Coroutine, wait } from "../db/coroutine.js";
import { AdbindError } from "../errors.js";
import { parseStrict } from "../json.js";
import { processWarning, safely } from "../listener.js";
import type { CryptoBackend } from "./crypto.js";
import { fieldValue } from "./headers.js";
import { checkBody } from "./sign.js";
import type { HmacSecrets, Refusal, SignableRequest } from "./types.js";
import { refusal, systemSeconds } from "./verify.js";

/** Shortest secret or token, in characters, each at least a byte (docs/protocol/webhooks.md#limits). */
const SECRET_CHARS = 32;
/** Largest difference between a timestamp and the clock, either way (docs/protocol/webhooks.md#limits). */
export const TIMESTAMP_SKEW_SECONDS = 300;
/** Release that no longer has these schemes. */
const REMOVED_IN_MAJOR = 4;

/** What the deprecated schemes share: the protocol's word, the release, the clock in unix seconds. */
export interface LegacyOptions {
  /** The protocol's word; `proto` by default. */
  readonly word?: string;
  /** Version of the release negotiated. From 4.0 on the legacy schemes do not exist. */
  readonly version?: string;
  /** Unix seconds; the system clock by default. */
  readonly now?: () => number;
  /** Told once for each scheme that it is deprecated; a process warning by default. */
  readonly onDeprecated?: (message: string) => void;
}

/** The shared secret that a webhook is signed with. */
export interface HmacSignOptions extends LegacyOptions {
  readonly secret: string;
}

/** Secrets that a webhook may be signed with: the current one, and the one before while it is changed. */
export interface HmacVerifyOptions extends LegacyOptions {
  readonly secrets: HmacSecrets;
  /** Identity the credential is bound to. */
  readonly sender?: string;
}

/** Tokens that a Bearer webhook may carry. */
export interface BearerVerifyOptions extends LegacyOptions {
  readonly tokens: HmacSecrets;
  /** Identity the credential is bound to. */
  readonly sender?: string;
}

/** A legacy delivery that holds: who the credential belongs to, and the body. */
export interface LegacyVerified {
  readonly ok: true;
  readonly sender: string | undefined;
  /**
   * The body as strict JSON; undefined where it is not JSON. The MAC of such a body may hold: it is the envelope that
   * refuses it.
   */
  readonly json: unknown;
}

/** What came of verifying a deprecated scheme. */
export type LegacyResult = LegacyVerified | Refusal;

/** Fewer distinct characters than this, or a unit this short repeated, is no secret: random text of 32 never has it. */
const REGULAR_UNIT_CHARS = 8;

function repeatsItself(secret: string): boolean {
  if (new Set(secret).size < REGULAR_UNIT_CHARS) return true;
  for (let unit = 1; unit <= REGULAR_UNIT_CHARS; unit++) if (secret.startsWith(secret.slice(unit))) return true;
  return false;
}

function weaknessOf(secret: unknown): string | undefined {
  if (typeof secret !== "string") return "is no text";
  // Each of them is the same bytes to sign with: a secret of nothing else would be known to everybody.
  if (!secret.isWellFormed()) return "has half of a character";
  if ([...secret].length < SECRET_CHARS) return `is shorter than ${SECRET_CHARS} characters`;
  return repeatsItself(secret) ? "repeats itself" : undefined;
}

/**
 * Checks a secret or token when it is configured, before anything is signed with it.
 * @throws AdbindError `secret_weak` for one under 32 characters, of too few distinct characters, of one short unit
 *   repeated, or with half of a character; the message never holds the secret
 */
export function checkSecret(secret: string, where: string): void {
  const weakness = weaknessOf(secret);
  if (weakness === undefined) return;
  throw new AdbindError("secret_weak", `The secret ${weakness}`, {
    where,
    remedy: "make it of 32 random bytes, for example `openssl rand -hex 32`",
  });
}

/** What a header may carry as a token (RFC 6750 section 2.1). */
const TOKEN = "[A-Za-z0-9\\-._~+/]+=*";
const wholeToken = new RegExp(`^${TOKEN}$`);
const bearerField = new RegExp(`^bearer +(${TOKEN})$`, "i");

/**
 * Checks a bearer token when it is configured: one that no header may carry would have every delivery refused.
 * @throws AdbindError `secret_weak` as `checkSecret`, and for other characters than a token has; the message never holds it
 */
export function checkToken(token: string, where: string): void {
  checkSecret(token, where);
  if (wholeToken.test(token)) return;
  throw new AdbindError("secret_weak", "A Bearer token has characters no header may carry", {
    where,
    remedy: "make it of letters, digits and -._~+/ alone, for example `openssl rand -hex 32`",
  });
}

/** Schemes each listener has been told of. */
const told = new WeakMap<object, Set<string>>();

function enter(
  scheme: "HMAC-SHA256" | "Bearer",
  options: LegacyOptions,
  secrets: Readonly<Record<string, string | undefined>>,
): void {
  const { version } = options;
  if (version !== undefined && Number.parseInt(version, 10) >= REMOVED_IN_MAJOR) {
    throw new AdbindError("legacy_auth_removed", `Release ${version} has no ${scheme} webhooks`, {
      where: "authentication.schemes",
      remedy: "register without the authentication block: deliveries are then signed",
    });
  }
  const check = scheme === "Bearer" ? checkToken : checkSecret;
  for (const [where, secret] of Object.entries(secrets)) if (secret !== undefined) check(secret, where);
  const { onDeprecated = warn } = options;
  const schemes = told.get(onDeprecated) ?? new Set();
  if (schemes.has(scheme)) return;
  told.set(onDeprecated, schemes.add(scheme));
  const text = `${scheme} webhooks are deprecated and end with release 4.0: use signed webhooks`;
  safely(() => onDeprecated(text));
}

const warn = (text: string): void => processWarning(text, "DeprecationWarning");

/** `<timestamp text>.<raw body>`: the header's own text, so that no two spellings of a number share a MAC. */
function message(timestamp: string, body: Uint8Array): Uint8Array {
  const head = new TextEncoder().encode(`${timestamp}.`);
  const joined = new Uint8Array(head.length + body.length);
  joined.set(head);
  joined.set(body, head.length);
  return joined;
}

/** Headers of the legacy scheme for a body. */
export function* hmacHeaders(
  body: Uint8Array,
  options: HmacSignOptions,
  backend: CryptoBackend,
): Coroutine<Record<string, string>> {
  enter("HMAC-SHA256", options, { secret: options.secret });
  try {
    checkBody(body);
  } catch (error) {
    // The scheme signs bytes and says nothing of them, but a body with two readings must not go out.
    if (error instanceof AdbindError && error.code === "duplicate_key_input") throw error;
  }
  const names = wireNames(options.word ?? "proto");
  const timestamp = String(Math.floor((options.now ?? systemSeconds)()));
  const mac = yield* wait(backend.hmacSha256(options.secret, message(timestamp, body)));
  return { [names.hmacSignatureHeader]: `sha256=${mac}`, [names.hmacTimestampHeader]: timestamp };
}

/** Verifies a delivery of a registration for HMAC-SHA256. */
export function* hmacVerification(
  request: Pick<SignableRequest, "headers" | "body">,
  options: HmacVerifyOptions,
  backend: CryptoBackend,
): Coroutine<LegacyResult> {
  const { current, previous } = options.secrets;
  enter("HMAC-SHA256", options, { "secrets.current": current, "secrets.previous": previous });
  const names = wireNames(options.word ?? "proto");
  const signature = fieldValue(request.headers, names.hmacSignatureHeader);
  const timestamp = fieldValue(request.headers, names.hmacTimestampHeader);
  if (signature === undefined && timestamp === undefined && isSigned(request)) return mismatch("signature");
  if (!signature || !timestamp) return refusal("hmac_signature_missing", 0);
  const now = Math.floor((options.now ?? systemSeconds)());
  if (!/^[0-9]{1,15}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > TIMESTAMP_SKEW_SECONDS) {
    return refusal("hmac_timestamp_invalid", 0);
  }
  if (!/^sha256=[0-9a-f]{64}$/.test(signature)) return refusal("hmac_signature_invalid", 0);
  const signed = message(timestamp, request.body);
  let holds = false;
  // Both are computed whatever the first says: time must not tell which secret is in use.
  for (const secret of previous === undefined ? [current] : [current, previous]) {
    const mac = yield* wait(backend.hmacSha256(secret, signed));
    holds = backend.equal(`sha256=${mac}`, signature) || holds;
  }
  return holds ? verifiedBody(request.body, options.sender) : refusal("hmac_signature_invalid", 0);
}

/** Verifies a delivery of a registration for Bearer. */
export function* bearerVerification(
  request: Pick<SignableRequest, "headers" | "body">,
  options: BearerVerifyOptions,
  backend: CryptoBackend,
): Coroutine<LegacyResult> {
  const { current, previous } = options.tokens;
  enter("Bearer", options, { "tokens.current": current, "tokens.previous": previous });
  const given = fieldValue(request.headers, "authorization");
  if (given === undefined && isSigned(request)) return mismatch("signature");
  const token = bearerField.exec(given ?? "")?.[1];
  if (token === undefined) return refusal("bearer_token_invalid", 0);
  const utf8 = new TextEncoder();
  // Digests have one length, so the comparison tells nothing of the token's.
  const digest = yield* wait(backend.sha256(utf8.encode(token)));
  let holds = false;
  for (const expected of previous === undefined ? [current] : [current, previous]) {
    holds = backend.equal(yield* wait(backend.sha256(utf8.encode(expected))), digest) || holds;
  }
  return holds ? verifiedBody(request.body, options.sender) : refusal("bearer_token_invalid", 0);
}

export const isSigned = ({ headers }: Pick<SignableRequest, "headers">): boolean =>
  fieldValue(headers, "signature-input") !== undefined || fieldValue(headers, "signature") !== undefined;

export const mismatch = (received: string): Refusal =>
  refusal("webhook_mode_mismatch", 0, { detail: `the delivery was authenticated by ${received}` });

export function verifiedBody(body: Uint8Array, sender: string | undefined): LegacyResult {
  const json = parseStrict(body);
  if (json.ok) return { ok: true, sender, json: json.value };
  if (json.reason !== "duplicate_keys" && json.reason !== "depth") return { ok: true, sender, json: undefined };
  return refusal("webhook_body_malformed", 14, { detail: json.detail, ...(json.keys && { keys: json.keys }) });
}
