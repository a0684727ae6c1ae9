/** Steps that the runner does itself: what it looks at beside the answers of tools. */

import type { OwnTask } from "./own-task.js";
import { assertJwksPurpose, authServerMetadata, fetchBrandJwks, protectedResource } from "./probes/metadata.js";
import { rateLimitNotReplayed } from "./probes/rate-limit.js";
import { expectSubstitutionSafe } from "./probes/substitution-safe.js";
import { trustedMatchProbe } from "./probes/trusted-match.js";
import { expectNoWebhook, expectWebhook, retryKeysStable, signatureValid } from "./probes/webhooks.js";

/** Its one check is the whole step. */
const assertContribution: OwnTask = (step, _phase, story) => {
  const flags = (step.validations ?? []).flatMap(({ allowed_values: listed = [] }) => listed.map(String));
  const contributors = story.storyboard.phases.flatMap((phase) =>
    phase.steps
      .filter((one) => one.contributes === true || one.contributes_to !== undefined)
      .filter((one) => flags.includes(one.contributes_to ?? phase.branch_set?.id ?? ""))
      .map((one) => story.results.get(one.id)),
  );
  const idle = contributors.length > 0 && contributors.every((one) => one === undefined || isIdle(one.skip?.reason));
  if (!idle || flags.some((flag) => story.flags.has(flag))) return {};
  return { skip: { reason: "not_applicable", detail: `no branch of ${flags.join(", ")} applies to the agent` } };
};

/** Reasons for which nothing was even tried. */
const isIdle = (reason: string | undefined): boolean =>
  reason !== undefined && reason !== "peer_branch_taken" && !reason.startsWith("optional");

/** Receivers are a buyer's: they are graded as one (`adbind conform buyer --receiver URL`). */
const replayVector: OwnTask = () => ({
  skip: {
    reason: "not_applicable",
    detail: "the step posts a webhook to a buyer's receiver: adbind conform buyer --receiver URL grades one",
  },
});

const own: Readonly<Record<string, OwnTask>> = {
  assert_contribution: assertContribution,
  protected_resource_metadata: protectedResource,
  oauth_auth_server_metadata: authServerMetadata,
  fetch_brand_jwks: fetchBrandJwks,
  assert_jwks_purpose: assertJwksPurpose,
  expect_webhook: expectWebhook,
  expect_no_webhook: expectNoWebhook,
  expect_webhook_retry_keys_stable: retryKeysStable,
  expect_webhook_signature_valid: signatureValid,
  replay_webhook_vector: replayVector,
  expect_substitution_safe: expectSubstitutionSafe,
  expect_rate_limit_not_replayed: rateLimitNotReplayed,
  trusted_match_missing_auth_context_probe: trustedMatchProbe,
  trusted_match_invalid_auth_context_probe: trustedMatchProbe,
  trusted_match_missing_auth_identity_probe: trustedMatchProbe,
  trusted_match_invalid_auth_identity_probe: trustedMatchProbe,
};

/** Undefined for a task that is an agent's tool. */
export const ownTask = (task: string): OwnTask | undefined => (Object.hasOwn(own, task) ? own[task] : undefined);
