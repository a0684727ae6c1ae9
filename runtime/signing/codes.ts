/**
 * Every reason a signature or a legacy credential is refused: one closed table (docs/protocol/signing.md#codes). A code is
 * the value of `WWW-Authenticate: Signature error="<code>"` where its status is 401.
 */

/** Step of the verifier checklist; 0 is what comes before it (mode, presence). */
export type Step = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | "9a" | 10 | 11 | 12 | 13 | 14;

export interface CodeEntry {
  /** HTTP status of the answer. */
  readonly status: 401 | 503;
  /** The sender may send the same event again and be accepted; nothing was consumed. */
  readonly retryable: boolean;
  readonly summary: string;
}

const refused = (summary: string): CodeEntry => ({ status: 401, retryable: false, summary });
const unreachable = (summary: string): CodeEntry => ({ status: 503, retryable: true, summary });

/** Codes of the webhook profile: fourteen about the signature, three that carry no `signature` infix. */
export const webhookCodes = {
  webhook_signature_header_malformed: refused("a signature field is missing, ambiguous or not what its grammar allows"),
  webhook_signature_params_incomplete: refused("created, expires, nonce, keyid, alg or tag is missing"),
  webhook_signature_tag_invalid: refused("the tag is not the webhook profile's"),
  webhook_signature_alg_not_allowed: refused("the algorithm is neither ed25519 nor ecdsa-p256-sha256"),
  webhook_signature_window_invalid: refused("the validity window is over, not yet open, reversed or too long"),
  webhook_signature_components_incomplete: refused("the covered components are not exactly the five of the profile"),
  webhook_signature_key_unknown: refused("the sender publishes no key with this keyid, or a pin leaves it out"),
  webhook_signature_key_purpose_invalid: refused("the key is not published for signing webhooks with this algorithm"),
  webhook_signature_key_revoked: refused("the key was revoked"),
  webhook_signature_revocation_stale: refused("the revocation list is older than its grace allows"),
  webhook_signature_rate_abuse: refused("the key has as many live nonces as the replay store keeps for one key"),
  webhook_signature_invalid: refused("the signature does not verify over the signature base"),
  webhook_signature_digest_mismatch: refused("Content-Digest is not the digest of the body"),
  webhook_signature_replayed: refused("this keyid has used this nonce before"),
  webhook_target_uri_malformed: refused("the target URI has no canonical form, or the authority is another one"),
  webhook_mode_mismatch: refused("the registration calls for another authentication mode than the one received"),
  webhook_body_malformed: refused("the body is not strict JSON: a duplicate key, bad UTF-8, bad syntax or too deep"),
} as const satisfies Record<string, CodeEntry>;

/** Codes of the request profile. */
export const requestCodes = {
  request_signature_required: refused("the operation must be signed and the request is not"),
  request_signature_header_malformed: refused("a signature field is missing, ambiguous or not what its grammar allows"),
  request_signature_params_incomplete: refused("created, expires, nonce, keyid, alg or tag is missing"),
  request_signature_tag_invalid: refused("the tag is not the request profile's"),
  request_signature_alg_not_allowed: refused("the algorithm is neither ed25519 nor ecdsa-p256-sha256"),
  request_signature_window_invalid: refused("the validity window is over, not yet open, reversed or too long"),
  request_signature_components_incomplete: refused("a component the verifier requires is not covered"),
  request_signature_components_unexpected: refused("a component is covered that the verifier's policy forbids"),
  request_signature_key_unknown: refused("the signer publishes no key with this keyid"),
  request_signature_key_purpose_invalid: refused("the key is not published for signing requests with this algorithm"),
  request_signature_key_revoked: refused("the key was revoked"),
  request_signature_revocation_stale: refused("the revocation list is older than its grace allows"),
  request_signature_rate_abuse: refused("the key has as many live nonces as the replay store keeps for one key"),
  request_signature_invalid: refused("the signature does not verify over the signature base"),
  request_signature_digest_mismatch: refused("Content-Digest is not the digest of the body"),
  request_signature_replayed: refused("this keyid has used this nonce before"),
  request_signature_jwks_unavailable: unreachable("the signer's keys cannot be fetched now"),
  request_signature_jwks_untrusted: refused("the signer's keys come from a place that may not speak for it"),
  request_target_uri_malformed: refused("the target URI has no canonical form, or the authority is another one"),
  request_body_malformed: refused("the body is not strict JSON: a duplicate key, bad UTF-8, bad syntax or too deep"),
} as const satisfies Record<string, CodeEntry>;

/** Codes of the legacy credentials, and of sources that cannot be asked: none of them is the checklist's. */
export const otherCodes = {
  hmac_signature_missing: refused("a header of the HMAC scheme is missing or doubled"),
  hmac_timestamp_invalid: refused("the timestamp is not an integer, or more than 300 seconds away"),
  hmac_signature_invalid: refused("the HMAC is not that of the body under a registered secret"),
  bearer_token_invalid: refused("the bearer token is missing or not a registered one"),
  keys_unavailable: unreachable("the sender's keys cannot be fetched now"),
  revocation_unavailable: unreachable("the revocation source cannot be asked now"),
  replay_unavailable: unreachable("the replay store cannot be asked now"),
} as const satisfies Record<string, CodeEntry>;

/** Codes of both profiles, each with its status and whether the same may be sent again. */
export const verificationCodes = { ...webhookCodes, ...requestCodes, ...otherCodes } as const;

/** A reason to refuse a webhook. */
export type WebhookCode = keyof typeof webhookCodes;
/** A reason to refuse a signed request. */
export type RequestCode = keyof typeof requestCodes;
/** A reason to refuse a signed message, webhook or request. */
export type VerificationCode = keyof typeof verificationCodes;

/**
 * Value of `WWW-Authenticate` for a refusal (docs/protocol/signing.md#codes); undefined where the status is not 401 or
 * the scheme is a legacy one, which has no challenge of its own.
 */
export const challengeOf = (code: VerificationCode): string | undefined =>
  Object.hasOwn(webhookCodes, code) || (Object.hasOwn(requestCodes, code) && verificationCodes[code].status === 401)
    ? `Signature error="${code}"`
    : undefined;
