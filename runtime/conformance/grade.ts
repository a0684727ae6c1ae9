/** An answer against what a step asks of it. */
import { type AnsweredTool, errorCodeOf, isFailedAnswer } from "./agent/outcome.js";
import type { AgentAnswer } from "./agent/types.js";
import { checkRunner } from "./checks/index.js";
import type { CheckFinding, CheckView } from "./checks/types.js";
import { CONTROLLER } from "./controller.js";
import type { StoryboardCheck, StoryboardStep } from "./document.js";
import type { GradedCheck } from "./result.js";

/** Kinds of checks that say themselves what a failure has to look like. */
const judgesFailure = new Set([
  "error_code",
  "http_status",
  "http_status_in",
  "canonical_format_satisfaction",
  "on_401_require_header",
]);

/** What a step asks of its task's outcome, before its checks. */
export function outcomeProblem(step: StoryboardStep, answer: AgentAnswer, answered: AnsweredTool): string | undefined {
  const refused = answer.payload?.success === false;
  const failed = isFailedAnswer(answer, answered);
  const code = errorCodeOf(answer, answered)?.code;
  if (step.expect_error === true)
    return failed || refused ? undefined : "the step asks for an error, and the call succeeded";
  if (!failed) return undefined;
  // A controller's refusal is an answer like any other: the step's checks say what it should be.
  if (step.task === CONTROLLER && answer.payload?.success !== undefined) return undefined;
  if ((step.validations ?? []).some(({ check }) => judgesFailure.has(check))) return undefined;
  const message = messageOf(answer, answered);
  return `the task failed: ${[code, message].filter(Boolean).join(": ") || "it says neither code nor message"}`;
}

function messageOf({ payload, error, text }: AgentAnswer, { word }: AnsweredTool): string | undefined {
  const wrapped = payload?.[`${word}_error`] as { message?: unknown } | undefined;
  const errors = Array.isArray(payload?.errors) ? (payload.errors[0] as { message?: unknown } | undefined) : undefined;
  const said = wrapped?.message ?? errors?.message ?? error?.message ?? payload?.message ?? text;
  return typeof said === "string" ? said.slice(0, 400) : undefined;
}

const resultOf = (check: StoryboardCheck, finding: CheckFinding): GradedCheck => ({
  check: check.check,
  ...(check.description !== undefined && { description: check.description.trim().replace(/\s+/g, " ") }),
  ...(check.severity === "advisory" && { advisory: true as const }),
  ...finding,
});

/** Runs every check of a step. */
export async function runChecks(checks: readonly StoryboardCheck[], view: CheckView): Promise<GradedCheck[]> {
  const results: GradedCheck[] = [];
  for (const check of checks) {
    const run = checkRunner(check.check);
    if (run === undefined) {
      results.push(
        resultOf(check, { outcome: "not_graded", note: `this runner does not know checks of the kind ${check.check}` }),
      );
      continue;
    }
    // Where no answer came there is nothing that fields could stand in.
    results.push(resultOf(check, await run(check, view)));
  }
  return results;
}
