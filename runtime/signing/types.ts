/** What the verifier and the signer take and answer: the surface key discovery, stores and receivers build on. */
import type { MaybePromise } from "../contract/index.js";
import type { ReplayStore } from "../contract/replay-store.js";
import type { Step, VerificationCode } from "./codes.js";

export type { ReplayStore };

/**
 * Header fields: a record as Node gives it (`headersDistinct` keeps doubled fields apart, plain `headers` may drop them),
 * or pairs such as a `Headers` object iterates. Names are matched without case.
 */
export type HeaderFields =
  | { readonly [name: string]: string | readonly string[] | undefined }
  | Iterable<readonly [string, string]>;

/** An HTTP request as signing sees it. */
export interface SignableRequest {
  readonly method: string;
  /**
   * The absolute target URI. A verifier builds it from its configured public base URL and the raw request target, never
   * from forwarding headers.
   */
  readonly url: string;
  /**
   * A `host` (or `:authority`) among them must agree with `url`; a receiver behind a proxy that rewrites Host leaves it
   * out.
   */
  readonly headers: HeaderFields;
  /** The bytes as sent or received, before any parsing. */
  readonly body: Uint8Array;
}

/** An algorithm of the signing profiles. */
export type SignatureAlgorithm = "ed25519" | "ecdsa-p256-sha256";

/** A key as published, with whatever members it came with (RFC 7517). */
export interface Jwk {
  readonly kid?: string;
  readonly kty?: string;
  readonly crv?: string;
  readonly alg?: string;
  readonly use?: string;
  readonly key_ops?: readonly string[];
  readonly x?: string;
  readonly y?: string;
  /** Private part; present in a signer's key only. */
  readonly d?: string;
  readonly [member: string]: unknown;
}

/** A set of keys as a `jwks_uri` serves it. */
export interface JwkSet {
  readonly keys: readonly Jwk[];
}

/**
 * A published key with room for its imported form. Make it once per fetched key with `verificationKey(jwk)` and hand the
 * same object out on every `resolve`: the import is kept on it.
 */
export interface VerificationKey {
  readonly jwk: Jwk;
  /** Unix seconds. Signatures created at or after it are refused as revoked (a publisher pin's `revoked_at`). */
  readonly revokedAt?: number;
  /** The crypto backend's own form; the verifier fills it in at first use. */
  imported?: unknown;
}

/** A key with its owner, or why there is none. */
export type KeyResolution =
  | {
      readonly ok: true;
      readonly key: VerificationKey;
      /** Identity of the signer, the dedup scope: its agent URL. Never taken from a payload. */
      readonly sender: string;
    }
  | {
      readonly ok: false;
      /**
       * `key_unknown`: no such key, or a pin leaves it out. `unavailable`: keys could not be fetched; the answer is 503.
       * `untrusted`: they come from a place that may not speak for the signer.
       */
      readonly code: "key_unknown" | "unavailable" | "untrusted";
      /** For logs; never sent to the peer. */
      readonly detail?: string;
      /** Seconds after which asking again may help. */
      readonly retryAfterSeconds?: number;
    };

/** Where a sender's keys come from. Answer without a promise what is cached: the verifier then stays synchronous. */
export interface KeySource {
  /**
   * @param keyid `keyid` of the signature, compared with `kid` byte for byte
   * @param refuted the key it answered with before, by which the message is not proved: a source that keeps what it fetched
   * looks whether its owner has replaced it, and not more often than for a kid it does not know; others need not care
   */
  resolve(keyid: string, refuted?: Jwk): MaybePromise<KeyResolution>;
}

/** Step 9. `stale`: the list is older than its grace; `unavailable`: there is no answer, the response is 503. */
export type RevocationAnswer = "good" | "revoked" | "stale" | "unavailable";

/** Says whether a key is revoked, or that it cannot know. */
export interface RevocationSource {
  /** @param now unix seconds */
  check(keyid: string, sender: string, now: number): MaybePromise<RevocationAnswer>;
}

/** Current secret and, while rotating, the one before. */
export interface HmacSecrets {
  readonly current: string;
  readonly previous?: string;
}

/** How a sender authenticates its webhooks, fixed at registration (docs/protocol/webhooks.md#registration). */
export type AuthMode = "signature" | "HMAC-SHA256" | "Bearer" | "standard-webhooks";

/** Why a message is not believed: the code, the step that found it, and the status to answer with. */
export interface Refusal {
  readonly ok: false;
  readonly code: VerificationCode;
  readonly step: Step;
  /** HTTP status of the answer. */
  readonly status: 401 | 503;
  readonly retryable: boolean;
  /** What was found, safe to log: no body, no secret, key names sanitised. */
  readonly detail?: string;
  /** Known from step 7 on. */
  readonly keyid?: string;
  /** Known from step 8 on; not authenticated before step 10. */
  readonly sender?: string;
  /** For `Retry-After`, where the source said so. */
  readonly retryAfterSeconds?: number;
  /** Names of duplicated keys, sanitised, at most four and a count of the rest. */
  readonly keys?: readonly string[];
  /** What the signature was checked against, once it was built. */
  readonly signatureBase?: string;
}

/** A message that is believed: who signed it, with which key, and its body. */
export interface Verified {
  readonly ok: true;
  readonly keyid: string;
  readonly sender: string;
  readonly label: string;
  readonly alg: SignatureAlgorithm;
  /** Unix seconds. */
  readonly created: number;
  /** Unix seconds. */
  readonly expires: number;
  readonly nonce: string;
  /** SHA-256 of the body in unpadded base64url, where the signature covers it. */
  readonly digest?: string;
  /**
   * The body as strict JSON, made when first read; undefined where it is empty or not JSON, which the request profile
   * allows. Do not change the body's bytes before.
   */
  readonly json: unknown;
  readonly signatureBase: string;
}

/** A message that is believed, or why it is not. */
export type VerifyResult = Verified | Refusal;

/** The request profile may let an unsigned request through: it is then authenticated by something else, or not at all. */
export type RequestVerifyResult =
  | (Verified & { readonly signed: true })
  | {
      readonly ok: true;
      readonly signed: false;
      /** The signature did not hold, and its operation only warns: another credential must be good, or the answer is 401. */
      readonly warning?: Refusal;
    }
  | Refusal;

/** Headers a signer adds to the request. Names are as docs/protocol/signing.md#webhook-headers has them. */
export interface SignedHeaders {
  /** Absent on a request without a body. */
  readonly "Content-Type"?: string;
  readonly "Content-Digest"?: string;
  readonly "Signature-Input": string;
  readonly Signature: string;
}

/** Headers to add to a request, and the base that was signed. */
export interface Signed {
  readonly headers: SignedHeaders;
  readonly signatureBase: string;
}
