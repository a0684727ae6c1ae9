/** What to do about a refused signature, by the code it was refused with. */
import type { Recovery, Release } from "../contract/index.js";

/** The list of codes, as releases from 3.2 on name its file. */
const LIST = "request-signing-error-code";

/** Classes of the first list. Releases before it answer with the same codes, and say nothing of them. */
const byClass: Readonly<Record<Recovery, readonly string[]>> = {
  correctable: [
    "request_signature_required",
    "request_signature_header_malformed",
    "request_signature_params_incomplete",
    "request_signature_tag_invalid",
    "request_signature_alg_not_allowed",
    "request_signature_window_invalid",
    "request_signature_components_incomplete",
    "request_signature_components_unexpected",
    "request_signature_key_unknown",
    "request_signature_key_purpose_invalid",
    "request_signature_key_revoked",
    "request_signature_invalid",
    "request_signature_digest_mismatch",
    "request_signature_replayed",
    "request_target_uri_malformed",
    "request_body_malformed",
  ],
  transient: [
    "request_signature_capabilities_unreachable",
    "request_signature_brand_json_unreachable",
    "request_signature_jwks_unavailable",
  ],
  terminal: [
    "request_signature_brand_json_url_missing",
    "request_signature_brand_json_malformed",
    "request_signature_brand_origin_mismatch",
    "request_signature_agent_not_in_brand_json",
    "request_signature_brand_json_ambiguous",
    "request_signature_key_origin_mismatch",
    "request_signature_key_origin_missing",
    "request_signature_revocation_stale",
    "request_signature_rate_abuse",
    "request_signature_jwks_untrusted",
  ],
};

const firstList = new Map(
  Object.entries(byClass).flatMap(([recovery, codes]) => codes.map((code) => [code, recovery as Recovery] as const)),
);

/**
 * The class of a code: what the release's own list says, else what the first list of all said.
 * @returns undefined for what is no code of request signing, or none that a list knows
 */
export function signingRecovery(release: Pick<Release, "facts"> | undefined, code: string): Recovery | undefined {
  const list = release?.facts.recovery.codes[LIST]?.value;
  if (list !== undefined) return Object.hasOwn(list, code) ? list[code] : undefined;
  return firstList.get(code);
}
