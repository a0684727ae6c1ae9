/** Asks the test controller what the agent has sent to others. */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../contract/index.js";
import type { UpstreamQuery } from "./checks/types.js";
import { CONTROLLER } from "./controller.js";
import type { StoryboardStep } from "./document.js";
import { valuesAt } from "./paths.js";
import type { KnownAgent, StoryState } from "./state.js";

/** A call may be recorded a moment before the runner's clock says that the step began. */
const SKEW_MS = 250;

const digestsOf = (step: StoryboardStep, args: JsonObject): string[] =>
  (step.validations ?? [])
    .filter(({ check }) => check === "upstream_traffic")
    .flatMap(({ identifier_paths: paths }) => (Array.isArray(paths) ? paths : []))
    .flatMap((path) =>
      valuesAt(args, String(path)).map(({ value }) => createHash("sha256").update(String(value)).digest("hex")),
    );

/** Undefined where the agent's controller does not tell. */
export function upstreamOf(
  step: StoryboardStep,
  args: JsonObject,
  agent: KnownAgent,
  story: StoryState,
): UpstreamQuery | undefined {
  const { run } = story;
  if (!agent.tools.has(CONTROLLER) || !run.primary.scenarios.includes("query_upstream_traffic")) return undefined;
  return async (since) => {
    const began = story.startedAt.get(since ?? step.id) ?? story.startedAt.get(step.id) ?? run.now();
    const digests = [...new Set(digestsOf(step, args))];
    const params = {
      since_timestamp: new Date(began - SKEW_MS).toISOString(),
      attestation_mode: "raw",
      ...(digests.length > 0 && { identifier_value_digests: digests }),
    };
    const account = isJsonObject(args.account) ? { account: { ...args.account, sandbox: true } } : {};
    const answer = await story.sessionOf(run.primary).call(CONTROLLER, {
      scenario: "query_upstream_traffic",
      params,
      ...account,
    });
    if (answer.payload?.success === true) return { ok: true, result: answer.payload };
    return {
      ok: false,
      why: String(answer.payload?.error_detail ?? answer.payload?.error ?? answer.error?.message ?? "no answer"),
    };
  };
}
