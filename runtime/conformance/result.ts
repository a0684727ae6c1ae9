/** What a run finds: steps, their checks, and what is counted. */

import type { TransportName } from "../contract/index.js";
import type { SentRequest } from "./agent/types.js";
import type { CheckOutcome } from "./checks/types.js";

/** Why a step was not run. */
export type SkipReason =
  /** What the step is about is not offered. */
  | "not_applicable"
  /** The storyboard has no steps. */
  | "no_phases"
  /** A step that it builds on did not pass. */
  | "prerequisite_failed"
  /** The agent lacks a tool that it claims by its protocols or specialisms. */
  | "missing_tool"
  /** The agent has no test controller to prepare the state. */
  | "missing_test_controller"
  /** The runner has no fixture that fits. */
  | "fixture_unavailable"
  /** Neither seeding nor discovery gave the state. */
  | "fixture_unsatisfied"
  /** The runner was not set up for it. */
  | "unsatisfied_contract"
  /** Another branch of the same choice was taken. */
  | "peer_branch_taken"
  /** Another step provides the same state. */
  | "peer_substituted"
  /** The run lacks what the storyboard requires. */
  | "requirement_unmet";

/** Why a step was not run. */
export interface Skip {
  readonly reason: SkipReason;
  /** What was looked at, and what the agent or the run would have to have. */
  readonly detail: string;
}

/** One check of a step: what was wanted, what was there. */
export interface GradedCheck {
  readonly check: string;
  readonly description?: string;
  readonly outcome: CheckOutcome;
  /** Reported, and never failing the step. */
  readonly advisory?: true;
  readonly pointer?: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
  readonly note?: string;
  /** Path of the schema that judged, in the release. */
  readonly schema?: string;
}

/** Whether a check fails its step. */
export const isBroken = ({ outcome, advisory }: GradedCheck): boolean => outcome === "failed" && advisory !== true;

/**
 * How a step ended. `not_graded`: it ran, and nothing was asked of it. `faulty`: the published step contradicts the
 * published text.
 */
export type StepStatus = "passed" | "failed" | "skipped" | "not_graded" | "faulty";

/** What came of one step, with what was sent and answered. */
export interface StepResult {
  readonly storyboard: string;
  readonly phase: string;
  readonly step: string;
  readonly title: string;
  readonly task: string;
  readonly status: StepStatus;
  readonly skip?: Skip;
  /** It has no checks: its task's success is all that was looked at. */
  readonly unchecked?: true;
  readonly checks: readonly GradedCheck[];
  /** What went wrong apart from checks. */
  readonly problem?: string;
  /** What the release itself says against the request of a step that failed: a suite of another release asks what this one refuses. */
  readonly unfit?: string;
  /** What the published text asks for. */
  readonly required: string;
  readonly request?: SentRequest;
  readonly response?: {
    readonly status?: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly payload: unknown;
    /** Where the payload was found. */
    readonly origin: string;
  };
  /** SHA-256 of the step as published, 12 hex digits: what a list of faulty steps is held by. */
  readonly hash: string;
  /** The sentence of the published text that the step contradicts: of a faulty one, and of one that passes in spite of it. */
  readonly fault?: string;
  readonly tookMs: number;
}

/** What came of one storyboard. */
export interface StoryboardResult {
  readonly id: string;
  readonly title: string;
  readonly track?: string;
  readonly file: string;
  readonly steps: readonly StepResult[];
  /** `gap`: nothing of it was executed, and the agent claims what it is about. */
  readonly verdict: "passed" | "failed" | "not_applicable" | "gap";
  /** Why it is a gap, or does not apply. */
  readonly reason?: string;
}

/** How many steps ended how. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly notGraded: number;
  readonly faulty: number;
  /** Of those passed: steps without a check. */
  readonly unchecked: number;
  /** Checks that only advise, and did not hold. */
  readonly advisories: number;
}

export interface InvariantResult {
  readonly id: string;
  readonly passed: boolean;
  /** Storyboard and step at which it broke. */
  readonly at?: string;
  readonly detail?: string;
}

/** What a run showed: every storyboard, every step, and why. */
export interface ConformanceReport {
  readonly suite: { readonly version: string | undefined; readonly place: string };
  readonly release: { readonly word: string; readonly version: string };
  readonly agent: {
    readonly url: string;
    readonly transport: TransportName;
    readonly tools: readonly string[];
    readonly role?: "buyer";
  };
  readonly startedAt: string;
  readonly tookMs: number;
  readonly storyboards: readonly StoryboardResult[];
  /** Storyboards of the suite that the run left out, and why. */
  readonly notSelected: readonly { readonly id: string; readonly why: string }[];
  readonly counts: Counts;
  /** Kinds of checks that this runner does not know, and how often they stood. */
  readonly unknownChecks: Readonly<Record<string, number>>;
  readonly notices: readonly string[];
  readonly ok: boolean;
  /** Words of a command line that running a step alone takes beside its own: how the agent was reached. */
  readonly again?: readonly string[];
}

export function countSteps(steps: readonly StepResult[]): Counts {
  const of = (status: StepStatus): number => steps.filter((step) => step.status === status).length;
  const failing = steps.flatMap(({ checks }) => checks).filter((one) => one.advisory && one.outcome === "failed");
  return {
    passed: of("passed"),
    failed: of("failed"),
    skipped: of("skipped"),
    notGraded: of("not_graded"),
    faulty: of("faulty"),
    unchecked: steps.filter(({ status, unchecked }) => status === "passed" && unchecked).length,
    advisories: failing.length,
  };
}

/** Kinds of checks that were not known, and how often they stood. */
export const unknownChecks = (steps: readonly StepResult[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { checks } of steps)
    for (const { check, outcome } of checks) if (outcome === "not_graded") counts[check] = (counts[check] ?? 0) + 1;
  return counts;
};

/** The closing line of every run. */
export const countsLine = ({ passed, failed, skipped, notGraded, faulty }: Counts): string =>
  `steps: ${passed} passed, ${failed} failed, ${skipped} skipped, ${notGraded} not graded, ${faulty} faulty`;
