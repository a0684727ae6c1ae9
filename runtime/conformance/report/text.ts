/** A report for a terminal. */
import { printable } from "../../printable.js";
import { type ConformanceReport, countsLine, type StepResult, type StoryboardResult } from "../result.js";
import { brokenChecks, repeatCommand, sentenceOf, short, skipsByReason, subjectOf, troublesOf } from "./parts.js";

export interface TextOptions {
  /** Every step, those that passed and were skipped among them. */
  readonly all?: boolean;
}

const marks = { passed: "ok", failed: "FAIL", skipped: "-", not_graded: "?", faulty: "(ok)" } as const;

function failedStep(report: ConformanceReport, step: StepResult): string[] {
  const lines = [`  FAIL ${step.storyboard}/${step.step} (${step.task}): ${step.title}`];
  lines.push(`       required: ${short(step.required, 400)}`);
  for (const trouble of troublesOf(step)) lines.push(`       ${short(trouble, 500)}`);
  for (const check of brokenChecks(step)) {
    lines.push(`       ${check.check}: ${check.description === undefined ? "" : short(check.description)}`);
    lines.push(`         ${sentenceOf(check)}`);
    if (check.schema !== undefined) lines.push(`         schema ${check.schema} of ${report.release.version}`);
  }
  if (step.request !== undefined)
    lines.push(`       sent ${step.request.operation} ${short(step.request.payload, 600)}`);
  if (step.response !== undefined) {
    const status = step.response.status === undefined ? "" : `HTTP ${step.response.status} `;
    lines.push(`       answer ${status}${short(step.response.payload, 600)}`);
  }
  lines.push(`       again: ${repeatCommand(report, step)}`);
  return lines;
}

function storyboardLines(report: ConformanceReport, one: StoryboardResult, { all = false }: TextOptions): string[] {
  const of = (status: StepResult["status"]): number => one.steps.filter((step) => step.status === status).length;
  const counted = `${of("passed")} passed, ${of("failed")} failed, ${of("skipped")} skipped`;
  const lines = [`${one.verdict.padEnd(15)}${one.id}: ${counted}${one.reason ? ` (${short(one.reason)})` : ""}`];
  for (const step of one.steps) {
    if (step.status === "failed") lines.push(...failedStep(report, step));
    else if (step.status === "faulty") lines.push(`  faulty ${step.step}: the suite contradicts itself: ${step.fault}`);
    else if (all) lines.push(`  ${marks[step.status].padEnd(5)}${step.step}${step.unchecked ? " (no checks)" : ""}`);
  }
  if (one.verdict !== "not_applicable" && one.verdict !== "gap")
    for (const { reason, detail, steps } of skipsByReason(one.steps))
      lines.push(`  skipped ${steps.map(({ step }) => step).join(", ")}: ${reason}: ${short(detail)}`);
  return lines;
}

/** Lines of a report; the last one counts. */
export function textReport(report: ConformanceReport, options: TextOptions = {}): string {
  const { suite, release, agent } = report;
  const lines = [
    `${subjectOf(report)} over ${agent.transport}, by ${suite.version === undefined ? suite.place : `the suite of ${suite.version}`} and the schemas of ${release.word} ${release.version}`,
    ...report.notices.map((notice) => `note: ${notice}`),
    "",
  ];
  for (const one of report.storyboards) lines.push(...storyboardLines(report, one, options));
  lines.push("");
  const { unchecked, advisories } = report.counts;
  if (report.notSelected.length > 0)
    lines.push(`${report.notSelected.length} storyboards of the suite are not about this agent (--json lists them)`);
  if (unchecked > 0)
    lines.push(`${unchecked} steps passed by their task's success alone: the suite has no checks for them`);
  if (advisories > 0) lines.push(`${advisories} checks that only advise do not hold`);
  for (const [kind, count] of Object.entries(report.unknownChecks)) lines.push(`not graded: ${kind}, ${count} times`);
  lines.push(countsLine(report.counts));
  // Names that an agent has made up stand in pointers and reasons too.
  return lines.map(printable).join("\n");
}
