/** Tasks of storyboards that are none of an agent's tools. */
import { isJsonObject } from "../contract/index.js";
import type { StoryboardStep } from "./document.js";
import { fieldAt } from "./paths.js";

/** What the runner does itself, by what it does it with. */
export const ownTasks = {
  probe: ["protected_resource_metadata", "oauth_auth_server_metadata", "fetch_brand_jwks", "assert_jwks_purpose"],
  webhook: [
    "expect_webhook",
    "expect_no_webhook",
    "expect_webhook_retry_keys_stable",
    "expect_webhook_signature_valid",
    "replay_webhook_vector",
  ],
  other: [
    "assert_contribution",
    "expect_substitution_safe",
    "expect_rate_limit_not_replayed",
    "trusted_match_missing_auth_context_probe",
    "trusted_match_invalid_auth_context_probe",
    "trusted_match_missing_auth_identity_probe",
    "trusted_match_invalid_auth_identity_probe",
  ],
} as const;

const own: ReadonlySet<string> = new Set(Object.values(ownTasks).flat());

export const isOwnTask = (task: string): boolean => own.has(task);

/** Reads that a probe may be made with, where the kit names none that is offered. */
const probeTasks = [
  "list_creatives",
  "get_media_buy_delivery",
  "list_authorized_properties",
  "get_signals",
  "list_property_lists",
  "list_collection_lists",
  "list_content_standards",
];

/** The tool a step calls; `$test_kit.` names are looked up. */
export function taskOf(step: StoryboardStep, kit: unknown, tools: ReadonlySet<string>): string {
  if (!step.task.startsWith("$test_kit.")) return step.task;
  const named = fieldAt(isJsonObject(kit) ? kit : {}, step.task.slice("$test_kit.".length));
  const task = typeof named === "string" ? named : (step.task_default ?? step.task);
  if (!step.task.endsWith(".probe_task") || tools.has(task)) return task;
  return probeTasks.find((one) => tools.has(one)) ?? task;
}
