/** Published storyboards as this runner reads them. Fields have the names of the published files. */
import { isJsonObject, type JsonObject } from "../contract/index.js";

/** One requirement that a step's answer has to meet. */
export interface StoryboardCheck {
  readonly check: string;
  readonly id?: string;
  readonly path?: string;
  readonly value?: unknown;
  readonly allowed_values?: readonly unknown[];
  readonly description?: string;
  /** `advisory`: reported, and never failing the step. */
  readonly severity?: string;
  readonly context_key?: string;
  readonly pattern?: string;
  readonly [more: string]: unknown;
}

/** A value taken from an answer, or made, under a name that later steps use. */
export interface ContextOutput {
  readonly name?: string;
  readonly key?: string;
  readonly path?: string;
  readonly generate?: string;
}

export type StepAuth =
  | "none"
  | { readonly type: string; readonly from_test_kit?: boolean; readonly value_strategy?: string };

/** One call of a storyboard, as it was published. */
export interface StoryboardStep {
  readonly id: string;
  readonly title?: string;
  readonly task: string;
  readonly task_default?: string;
  readonly agent?: string;
  readonly stateful?: boolean;
  readonly sample_request?: JsonObject;
  readonly validations?: readonly StoryboardCheck[];
  readonly schema_ref?: string;
  readonly response_schema_ref?: string;
  readonly context_outputs?: readonly ContextOutput[];
  readonly expect_error?: boolean;
  readonly requires_tool?: string;
  readonly requires_contract?: string;
  readonly auth?: StepAuth;
  readonly contributes?: boolean;
  readonly contributes_to?: string;
  readonly contributes_if?: string;
  readonly provides_state_for?: string | readonly string[];
  readonly omit_idempotency_key?: boolean;
  readonly triggered_by?: string;
  readonly filter?: JsonObject;
  readonly timeout_seconds?: number;
  readonly expected?: string;
  readonly invariants?: unknown;
  readonly [more: string]: unknown;
}

/** A part of a storyboard. */
export interface Phase {
  readonly id: string;
  readonly title?: string;
  readonly optional?: boolean;
  readonly depends_on?: readonly string[];
  readonly skip_if?: string;
  readonly requires_capability?: CapabilityPredicate;
  readonly branch_set?: { readonly id: string; readonly semantics?: string };
  readonly steps: readonly StoryboardStep[];
  readonly narrative?: string;
}

export interface CapabilityPredicate {
  /** Several that have to hold together stand for one. */
  readonly all?: readonly CapabilityPredicate[];
  readonly path?: string;
  readonly equals?: unknown;
  readonly contains?: unknown;
  readonly not_contains?: unknown;
  readonly present?: boolean;
}

/** A published sequence of calls, with what each answer has to be. */
export interface Storyboard {
  readonly id: string;
  readonly version?: string;
  readonly title?: string;
  readonly track?: string;
  /** Path in the suite. */
  readonly file: string;
  readonly required_tools?: readonly string[];
  readonly required_any_of_tools?: readonly { readonly tools: readonly string[]; readonly rationale?: string }[];
  readonly requires_scenarios?: readonly string[];
  readonly requires?: readonly string[];
  readonly requires_capability?: CapabilityPredicate;
  readonly requires_all_capabilities?: readonly CapabilityPredicate[];
  readonly prerequisites?: { readonly test_kit?: string; readonly controller_seeding?: boolean };
  readonly fixtures?: JsonObject;
  readonly fixture_resolution?: JsonObject;
  readonly context?: JsonObject;
  readonly invariants?: unknown;
  readonly default_agent?: string;
  readonly phases: readonly Phase[];
}

const fail = (file: string, what: string): never => {
  throw new Error(`${file}: ${what}`);
};

const text = (value: unknown): value is string => typeof value === "string" && value !== "";

function readStep(file: string, value: unknown): StoryboardStep {
  if (!isJsonObject(value) || !text(value.id)) return fail(file, "a step has no id");
  if (!text(value.task)) return fail(file, `step ${value.id} names no task`);
  const checks = value.validations ?? [];
  if (!Array.isArray(checks) || checks.some((one) => !isJsonObject(one) || !text(one.check)))
    return fail(file, `step ${value.id} has a validation without a check`);
  return value as unknown as StoryboardStep;
}

function readPhase(file: string, value: unknown): Phase {
  if (!isJsonObject(value) || !text(value.id)) return fail(file, "a phase has no id");
  const steps = Array.isArray(value.steps) ? value.steps : [];
  return { ...(value as unknown as Phase), steps: steps.map((step) => readStep(file, step)) };
}

/** A file of a suite is a storyboard when it has an id and phases; kits and prose have not. */
export const isStoryboard = (value: unknown): value is JsonObject =>
  isJsonObject(value) && text(value.id) && Array.isArray(value.phases);

/** @throws Error with what is wrong with the file */
export function readStoryboard(file: string, value: JsonObject): Storyboard {
  if (Array.isArray(value.requires) && value.requires.length === 0) fail(file, "requires is empty: leave it out");
  const phases = (value.phases as unknown[]).map((phase) => readPhase(file, phase));
  const known = new Set(phases.map(({ id }) => id));
  for (const { id, depends_on: needed = [] } of phases)
    for (const other of needed) if (!known.has(other)) fail(file, `phase ${id} depends on ${other}, which is no phase`);
  return { ...(value as unknown as Storyboard), file, phases };
}
