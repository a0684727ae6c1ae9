/** What a check is given, and what it finds. */
import type { JsonObject } from "../../contract/index.js";
import type { AnsweredTool } from "../agent/outcome.js";
import type { AgentAnswer } from "../agent/types.js";
import type { StoryboardCheck, StoryboardStep } from "../document.js";
import type { SchemaJudge } from "../schemas.js";
import type { Substituted } from "../substitution.js";

export type CheckOutcome = "passed" | "failed" | "not_applicable" | "not_graded";

export interface CheckFinding {
  readonly outcome: CheckOutcome;
  /** JSON pointer into the answer's payload. */
  readonly pointer?: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
  readonly note?: string;
  /** The schema that judged. */
  readonly schema?: string;
}

/** What one step sent and got, and what the run knows beside it. */
export interface CheckView {
  readonly step: StoryboardStep;
  readonly answered: AnsweredTool;
  /** What paths start from: the payload of the protocol, or the body of a probe. */
  readonly payload: unknown;
  readonly answer: AgentAnswer | undefined;
  /** Answers of a step that was sent several times at once. */
  readonly answers: readonly AgentAnswer[];
  readonly sent: JsonObject;
  readonly context: ReadonlyMap<string, unknown>;
  /** Answers of earlier steps of the storyboard that passed, newest last. */
  readonly history: readonly { readonly step: string; readonly task: string; readonly payload: JsonObject }[];
  readonly flags: ReadonlySet<string>;
  readonly schemas: SchemaJudge;
  readonly agentUrl: string;
  readonly substitute: (template: unknown) => Substituted;
  /** Asks the test controller what the agent has sent upstream; undefined where it does not offer that. */
  readonly upstream: UpstreamQuery | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** Calls since a step began. */
export type UpstreamQuery = (
  since: string | undefined,
) => Promise<{ ok: true; result: JsonObject } | { ok: false; why: string }>;

export type CheckRunner = (check: StoryboardCheck, view: CheckView) => CheckFinding | Promise<CheckFinding>;

export const passed = (more: Omit<CheckFinding, "outcome"> = {}): CheckFinding => ({ outcome: "passed", ...more });

export const failed = (pointer: string, expected: unknown, actual: unknown, note?: string): CheckFinding => ({
  outcome: "failed",
  pointer,
  expected,
  actual,
  ...(note !== undefined && { note }),
});

export const notApplicable = (note: string): CheckFinding => ({ outcome: "not_applicable", note });
