/** The functions of signing over one crypto backend; `index.ts` and `web.ts` make them for theirs. */
import { type Coroutine, runAsync, runSync } from "../db/coroutine.js";
import { parseStrict } from "../json.js";
import type { CryptoBackend } from "./crypto.js";
import { fieldValue, hasField } from "./headers.js";
import * as legacy from "./legacy.js";
import { type Binding, resolveOperation } from "./operation.js";
import { calledBy, type NamedOperations, onlyWarns, type RequestCapability, unsignedFault } from "./policy.js";
import { type RequestRules, requestProfile, rulesOf31, webhookProfile } from "./profiles.js";
import type { VerifyOptions } from "./proof.js";
import { requestSignature, type SignOptions, type SignRequestOptions, webhookSignature } from "./sign.js";
import * as standard from "./standard-webhooks.js";
import type {
  AuthMode,
  HeaderFields,
  Refusal,
  RequestVerifyResult,
  SignableRequest,
  Signed,
  VerifyResult,
} from "./types.js";
import { namesOf, refusal, verification } from "./verify.js";

/** What a verifier of webhooks needs besides: the registered mode, and the purposes that keys may have. */
export interface VerifyWebhookOptions extends VerifyOptions {
  /** How the sender's registration says it authenticates; `signature` by default. Another one is a mode mismatch. */
  readonly mode?: AuthMode;
  /**
   * Purposes a key may have: those of docs/protocol/signing.md#key-purposes by default; a release of the 3.0 line knows
   * `webhook-signing` alone.
   */
  readonly keyUses?: readonly string[];
}

/** What a verifier of requests needs besides: what its capabilities say, and which operation it is. */
export interface VerifyRequestOptions extends VerifyOptions {
  /** What this verifier advertises; by default it supports signatures and requires none. */
  readonly capability?: RequestCapability;
  /** The tool called; by default read from the request (JSON-RPC parameters, else the last path segment). */
  readonly operation?: string;
  /** What the releases of the endpoint decide, never the request: those of 3.1 by default. */
  readonly rules?: RequestRules;
  /** `json-rpc` at an endpoint that takes nothing else. */
  readonly binding?: Binding;
  /** Another credential of the request was found good: an operation that should be signed passes on it, unsigned. */
  readonly fallback?: boolean;
}

/**
 * How a delivery authenticates itself, by the headers it carries; undefined where it does not. A signature goes before
 * legacy headers, since only it can be verified without a registration's secret.
 */
export function receivedMode(headers: HeaderFields, word = "proto"): AuthMode | undefined {
  const names = namesOf(word);
  const has = (name: string) => hasField(headers, name);
  if (has("signature-input") || has("signature")) return "signature";
  if (has(names.hmacSignatureHeader) || has(names.hmacTimestampHeader)) return "HMAC-SHA256";
  if (has("webhook-signature")) return "standard-webhooks";
  return /^bearer /i.test(fieldValue(headers, "authorization") ?? "") ? "Bearer" : undefined;
}

/** Signs and verifies; made of a platform's cryptography. */
export interface Signing {
  /**
   * Signs a webhook (docs/protocol/signing.md#webhook-headers). Send the returned headers with the same method, URL and bytes. On node the
   * signature itself is made in a thread of libuv's.
   * @throws AdbindError for a body that is not strict JSON, a URL without canonical form, an unusable key or option
   */
  signWebhook(request: SignableRequest, options: SignOptions): Promise<Signed>;
  /** `signWebhook` without waiting, in this thread; needs a synchronous backend, which node's is. */
  signWebhookSync(request: SignableRequest, options: SignOptions): Signed;
  /** Verifies a webhook: fourteen steps and 9a, in order. It never throws for anything a peer sends. */
  verifyWebhook(request: SignableRequest, options: VerifyWebhookOptions): Promise<VerifyResult>;
  /**
   * `verifyWebhook` without waiting.
   * @throws AdbindError `source_asynchronous` when a source answers with a promise
   */
  verifyWebhookSync(request: SignableRequest, options: VerifyWebhookOptions): VerifyResult;
  /** Signs a request to a seller. @throws AdbindError as `signWebhook` does */
  signRequest(request: SignableRequest, options: SignRequestOptions): Promise<Signed>;
  /** `signRequest` without waiting. */
  signRequestSync(request: SignableRequest, options: SignRequestOptions): Signed;
  /** Verifies a request, or lets an unsigned one pass where the capability allows it: look at `signed`. */
  verifyRequest(request: SignableRequest, options: VerifyRequestOptions): Promise<RequestVerifyResult>;
  /** `verifyRequest` without waiting. @throws AdbindError `source_asynchronous` */
  verifyRequestSync(request: SignableRequest, options: VerifyRequestOptions): RequestVerifyResult;
  /**
   * Legacy HMAC-SHA256 headers for a body.
   * @throws AdbindError `duplicate_key_input`, `secret_weak`, `legacy_auth_removed`
   */
  signHmac(body: Uint8Array, options: legacy.HmacSignOptions): Promise<Record<string, string>>;
  /** Verifies a delivery of an HMAC-SHA256 registration. @throws AdbindError `secret_weak`, `legacy_auth_removed` */
  verifyHmac(
    request: Pick<SignableRequest, "headers" | "body">,
    options: legacy.HmacVerifyOptions,
  ): Promise<legacy.LegacyResult>;
  /** Verifies a delivery of a Bearer registration. @throws AdbindError `secret_weak`, `legacy_auth_removed` */
  verifyBearer(
    request: Pick<SignableRequest, "headers" | "body">,
    options: legacy.BearerVerifyOptions,
  ): Promise<legacy.LegacyResult>;
  /** Headers of Standard Webhooks for a body. @throws AdbindError `secret_weak`, `webhook_id_invalid` */
  signStandardWebhook(body: Uint8Array, options: standard.StandardSignOptions): Promise<Record<string, string>>;
  /**
   * Verifies a delivery by Standard Webhooks: HMAC, at most 300 seconds old or early, one of several signatures.
   * @throws AdbindError `secret_weak`
   */
  verifyStandardWebhook(
    request: Pick<SignableRequest, "headers" | "body">,
    options: standard.StandardVerifyOptions,
  ): Promise<legacy.LegacyResult>;
}

/** Makes the functions for a backend. */
export function createSigning(backend: CryptoBackend): Signing {
  const signWebhook = (request: SignableRequest, options: SignOptions) =>
    webhookSignature(webhookProfile, request, options, backend);
  const signRequest = (request: SignableRequest, options: SignRequestOptions) =>
    requestSignature(requestProfile, request, options, backend);
  const verifyWebhook = (request: SignableRequest, options: VerifyWebhookOptions) =>
    webhookVerification(request, options, backend);
  const verifyRequest = (request: SignableRequest, options: VerifyRequestOptions) =>
    requestVerification(request, options, backend);
  return {
    signWebhook: (request, options) => runAsync(signWebhook(request, options)),
    signWebhookSync: (request, options) => runSync(signWebhook(request, options)),
    verifyWebhook: (request, options) => runAsync(verifyWebhook(request, options)),
    verifyWebhookSync: (request, options) => runSync(verifyWebhook(request, options)),
    signRequest: (request, options) => runAsync(signRequest(request, options)),
    signRequestSync: (request, options) => runSync(signRequest(request, options)),
    verifyRequest: (request, options) => runAsync(verifyRequest(request, options)),
    verifyRequestSync: (request, options) => runSync(verifyRequest(request, options)),
    signHmac: (body, options) => runAsync(legacy.hmacHeaders(body, options, backend)),
    verifyHmac: (request, options) => runAsync(legacy.hmacVerification(request, options, backend)),
    verifyBearer: (request, options) => runAsync(legacy.bearerVerification(request, options, backend)),
    signStandardWebhook: (body, options) => runAsync(standard.standardHeaders(body, options, backend)),
    verifyStandardWebhook: (request, options) => runAsync(standard.standardVerification(request, options, backend)),
  };
}

function* webhookVerification(
  request: SignableRequest,
  options: VerifyWebhookOptions,
  backend: CryptoBackend,
): Coroutine<VerifyResult> {
  const { mode = "signature" } = options;
  if (mode !== "signature") {
    return refusal("webhook_mode_mismatch", 0, { detail: `registered for ${mode}, handed to the signature verifier` });
  }
  const { keyUses } = options;
  const profile = keyUses === undefined ? webhookProfile : { ...webhookProfile, keyUses };
  const result = yield* verification(request, { ...options, ...webhookRules, profile, backend });
  if (result.ok || result.step !== 1) return result;
  const received = receivedMode(request.headers, options.word);
  if (received === undefined || received === "signature") return result;
  return refusal("webhook_mode_mismatch", 0, { detail: `registered for signatures, received ${received}` });
}

/** Webhooks are signed in one way in every release. */
const webhookRules = {
  digest: "required",
  binary: "either",
  nonAsciiHost: "header_malformed",
} as const;

/** What a request calls, where its endpoint refuses whatever is not exactly one operation. */
function resolvedIn(request: SignableRequest, options: VerifyRequestOptions): NamedOperations | Refusal {
  const resolved = resolveOperation(request, options.binding);
  if (!resolved.ok) return refusal("request_body_malformed", 0, { detail: resolved.detail });
  const { method, invocation } = resolved;
  const named = options.operation ?? invocation?.operation;
  return { operations: named === undefined ? [] : [named], method };
}

/** What a request calls by any reading of it. */
function namedIn(request: SignableRequest, { operation }: VerifyRequestOptions): NamedOperations {
  const json = parseStrict(request.body);
  const called = calledBy(request.url, json.ok ? json.value : undefined);
  return operation === undefined ? called : { ...called, operations: [operation] };
}

function* requestVerification(
  request: SignableRequest,
  options: VerifyRequestOptions,
  backend: CryptoBackend,
): Coroutine<RequestVerifyResult> {
  const { capability = {}, rules = rulesOf31 } = options;
  const resolved = rules.operations === "one" ? resolvedIn(request, options) : undefined;
  if (resolved !== undefined && "code" in resolved) return resolved;
  const called = (): NamedOperations => resolved ?? namedIn(request, options);
  const has = (name: string) => fieldValue(request.headers, name) !== undefined;
  if (!has("signature-input") && !has("signature")) {
    const fault = unsignedFault(request, capability, called());
    if (fault === undefined || (fault.of === "operation" && options.fallback === true))
      return { ok: true, signed: false };
    return refusal("request_signature_required", 0, { detail: fault.detail });
  }
  const newer = rules.profile === "3.2";
  const result = yield* verification(request, {
    ...options,
    profile: requestProfile,
    digest: newer ? "required" : (capability.covers_content_digest ?? "either"),
    binary: newer ? "standard" : "either",
    nonAsciiHost: rules.nonAsciiHost,
    backend,
  });
  if (result.ok) return { ...result, signed: true };
  // A pair of fields that is broken or half there is nobody's other credential.
  return result.step !== 1 && onlyWarns(capability, called) ? { ok: true, signed: false, warning: result } : result;
}
