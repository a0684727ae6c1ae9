/** What every form of a report says of a step. */
import { printable } from "../../printable.js";
import type { ConformanceReport, GradedCheck, StepResult } from "../result.js";

/** Characters of a value that a line shows. */
const SHOWN_CHARS = 240;

export function short(value: unknown, most = SHOWN_CHARS): string {
  const text = value === undefined ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);
  const plain = printable(text);
  return plain.length <= most ? plain : `${plain.slice(0, most)}...`;
}

/** Why a check did not hold, as one sentence. */
export function sentenceOf(check: GradedCheck): string {
  const parts = [
    check.pointer ? `at ${check.pointer}` : "",
    "expected" in check && check.expected !== undefined ? `expected ${short(check.expected)}` : "",
    "actual" in check ? `got ${short(check.actual)}` : "",
  ].filter((part) => part !== "");
  const note = check.note === undefined ? "" : ` (${short(check.note, 500)})`;
  return `${parts.join(", ")}${note}`;
}

export const brokenChecks = (step: StepResult): GradedCheck[] =>
  step.checks.filter(({ outcome, advisory }) => outcome === "failed" && advisory !== true);

const quoted = (text: string): string => {
  // A variable is the shell's to fill in.
  if (/^\$[A-Z_]+$/.test(text)) return `"${text}"`;
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
};

const isBuyer = ({ agent }: ConformanceReport): boolean => agent.role === "buyer";

/** Who was graded, in words. */
export const subjectOf = (report: ConformanceReport): string =>
  isBuyer(report) ? `the buyer at ${report.agent.url}` : report.agent.url;

/** The command that runs a step alone again. */
export function repeatCommand(report: ConformanceReport, step: StepResult): string {
  const { agent, suite, again } = report;
  const whom = isBuyer(report) ? ["buyer"] : [agent.url, "--suite", suite.place];
  const transport = agent.transport === "mcp" || again !== undefined ? [] : ["--transport", agent.transport];
  const about = ["--storyboard", step.storyboard, "--step", step.step];
  return ["adbind", "conform", ...whom, ...about, ...transport, ...(again ?? [])].map(quoted).join(" ");
}

/** Skips with the same reason, together. */
export function skipsByReason(steps: readonly StepResult[]): { reason: string; detail: string; steps: StepResult[] }[] {
  const groups = new Map<string, { reason: string; detail: string; steps: StepResult[] }>();
  for (const step of steps) {
    if (step.skip === undefined) continue;
    const { reason, detail } = step.skip;
    const group = groups.get(`${reason} ${detail}`) ?? { reason, detail, steps: [] };
    group.steps.push(step);
    groups.set(`${reason} ${detail}`, group);
  }
  return [...groups.values()];
}

/** What went wrong apart from checks, and what the release says against the request. */
export const troublesOf = ({ problem, unfit }: StepResult): string[] =>
  [problem, unfit].filter((one) => one !== undefined);
