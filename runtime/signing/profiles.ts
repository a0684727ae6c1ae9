/**
 * What differs between signing webhooks and signing requests: tag, key purposes, components, names of the codes. The
 * checklist itself is one (verify.ts).
 */
import type { RequestProfileName, WireNames } from "../contract/index.js";
import type { VerificationCode } from "./codes.js";

/** Why the checklist refuses, before a profile names it. */
export type Reason =
  | "header_malformed"
  | "params_incomplete"
  | "tag_invalid"
  | "alg_not_allowed"
  | "window_invalid"
  | "components_incomplete"
  | "components_unexpected"
  | "key_unknown"
  | "keys_untrusted"
  | "keys_unavailable"
  | "key_purpose_invalid"
  | "key_revoked"
  | "revocation_stale"
  | "revocation_unavailable"
  | "rate_abuse"
  | "target_uri_malformed"
  | "invalid"
  | "digest_mismatch"
  | "replayed"
  | "replay_unavailable"
  | "body_malformed";

/** Whether the signature must cover the body's digest; a webhook's always must. */
export type DigestPolicy = "required" | "forbidden" | "either";

/** What releases decide of verifying requests; `adbind/facts` says it for the releases an endpoint declares. */
export interface RequestRules {
  readonly profile: RequestProfileName;
  /** What a host in other letters than ASCII is called. */
  readonly nonAsciiHost: "header_malformed" | "target_uri_malformed";
  /** `one`: a body that does not come to exactly one operation, or to a method that calls none, is refused. */
  readonly operations: "named" | "one";
}

export const rulesOf31: RequestRules = { profile: "3.1", nonAsciiHost: "header_malformed", operations: "named" };

export interface Profile {
  readonly name: "webhook" | "request";
  readonly tag: (names: WireNames) => string;
  /** Values of `<word>_use` a key may have. */
  readonly keyUses: readonly string[];
  readonly codes: Readonly<Record<Reason, VerificationCode>>;
}

export const webhookProfile: Profile = {
  name: "webhook",
  tag: (names) => names.webhookTag,
  // webhook-signing is deprecated and still accepted (docs/protocol/signing.md#key-purposes).
  keyUses: ["request-signing", "webhook-signing"],
  codes: {
    header_malformed: "webhook_signature_header_malformed",
    params_incomplete: "webhook_signature_params_incomplete",
    tag_invalid: "webhook_signature_tag_invalid",
    alg_not_allowed: "webhook_signature_alg_not_allowed",
    window_invalid: "webhook_signature_window_invalid",
    components_incomplete: "webhook_signature_components_incomplete",
    // The webhook taxonomy has no code of its own for a component too many.
    components_unexpected: "webhook_signature_components_incomplete",
    key_unknown: "webhook_signature_key_unknown",
    keys_untrusted: "webhook_signature_key_unknown",
    keys_unavailable: "keys_unavailable",
    key_purpose_invalid: "webhook_signature_key_purpose_invalid",
    key_revoked: "webhook_signature_key_revoked",
    revocation_stale: "webhook_signature_revocation_stale",
    revocation_unavailable: "revocation_unavailable",
    rate_abuse: "webhook_signature_rate_abuse",
    target_uri_malformed: "webhook_target_uri_malformed",
    invalid: "webhook_signature_invalid",
    digest_mismatch: "webhook_signature_digest_mismatch",
    replayed: "webhook_signature_replayed",
    replay_unavailable: "replay_unavailable",
    body_malformed: "webhook_body_malformed",
  },
};

export const requestProfile: Profile = {
  name: "request",
  tag: (names) => names.requestTag,
  keyUses: ["request-signing"],
  codes: {
    header_malformed: "request_signature_header_malformed",
    params_incomplete: "request_signature_params_incomplete",
    tag_invalid: "request_signature_tag_invalid",
    alg_not_allowed: "request_signature_alg_not_allowed",
    window_invalid: "request_signature_window_invalid",
    components_incomplete: "request_signature_components_incomplete",
    components_unexpected: "request_signature_components_unexpected",
    key_unknown: "request_signature_key_unknown",
    keys_untrusted: "request_signature_jwks_untrusted",
    keys_unavailable: "request_signature_jwks_unavailable",
    key_purpose_invalid: "request_signature_key_purpose_invalid",
    key_revoked: "request_signature_key_revoked",
    revocation_stale: "request_signature_revocation_stale",
    revocation_unavailable: "revocation_unavailable",
    rate_abuse: "request_signature_rate_abuse",
    target_uri_malformed: "request_target_uri_malformed",
    invalid: "request_signature_invalid",
    digest_mismatch: "request_signature_digest_mismatch",
    replayed: "request_signature_replayed",
    replay_unavailable: "replay_unavailable",
    body_malformed: "request_body_malformed",
  },
};

/** Components of a webhook signature, all of them, in this order (docs/protocol/signing.md#webhook-headers). */
export const webhookComponents = ["@method", "@target-uri", "@authority", "content-type", "content-digest"] as const;

/** Components every request signature covers; `content-type` joins them where there is a body. */
export const requestComponents = ["@method", "@target-uri", "@authority"] as const;

/** What is wrong with the covered components of a webhook; undefined when nothing is. */
export function webhookComponentFault(components: readonly string[]) {
  const exact =
    components.length === webhookComponents.length && webhookComponents.every((name, at) => components[at] === name);
  return exact
    ? undefined
    : ({
        reason: "components_incomplete",
        detail: `covered: ${list(components)}; the profile has ${list(webhookComponents)}`,
      } as const);
}

/** What is wrong with the covered components of a request; undefined when nothing is. */
export function requestComponentFault(
  components: readonly string[],
  hasBody: boolean,
  { digest, binary }: { readonly digest: DigestPolicy; readonly binary: "either" | "standard" },
) {
  const required = [
    ...requestComponents,
    ...(hasBody ? ["content-type"] : []),
    // From 3.2 on, what is not there needs no digest.
    ...(digest === "required" && (hasBody || binary === "either") ? ["content-digest"] : []),
  ];
  const missing = required.filter((name) => !components.includes(name));
  if (missing.length > 0) return { reason: "components_incomplete", detail: `not covered: ${list(missing)}` } as const;
  const known: readonly string[] = requestComponents;
  const unexpected = components.filter(
    (name) =>
      (name.startsWith("@") && !known.includes(name)) ||
      !/^@?[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) ||
      (digest === "forbidden" && name === "content-digest"),
  );
  return unexpected.length === 0
    ? undefined
    : ({ reason: "components_unexpected", detail: `must not be covered: ${list(unexpected)}` } as const);
}

const list = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(" ");
