/** A report as JUnit's XML, as build servers read it. */
import type { ConformanceReport, StepResult } from "../result.js";
import { brokenChecks, repeatCommand, sentenceOf, short, troublesOf } from "./parts.js";

const named: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Characters that XML 1.0 cannot hold are left out. */
export const escapeXml = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about
  text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "").replace(/[&<>"']/g, (one) => named[one]!);

function inner(report: ConformanceReport, step: StepResult): string {
  if (step.status === "passed") return "";
  if (step.status === "failed") {
    const reasons = [
      ...troublesOf(step),
      ...brokenChecks(step).map((check) => `${check.check}: ${sentenceOf(check)}`),
    ].filter((one) => one !== "");
    const more = [...reasons, `required: ${short(step.required, 600)}`, `again: ${repeatCommand(report, step)}`];
    return `<failure message="${escapeXml(reasons[0] ?? "failed")}">${escapeXml(more.join("\n"))}</failure>`;
  }
  const why = step.skip === undefined ? (step.fault ?? "not graded") : `${step.skip.reason}: ${step.skip.detail}`;
  return `<skipped message="${escapeXml(why)}"/>`;
}

/** A report as JUnit's XML, for what shows test results. */
export function junitReport(report: ConformanceReport): string {
  const suites = report.storyboards.map(({ id, steps }) => {
    const cases = steps.map((step) => {
      const head = `<testcase classname="${escapeXml(id)}" name="${escapeXml(`${step.phase}/${step.step}`)}" time="${(step.tookMs / 1000).toFixed(3)}"`;
      const body = inner(report, step);
      return `    ${body === "" ? `${head}/>` : `${head}>${body}</testcase>`}`;
    });
    const failures = steps.filter(({ status }) => status === "failed").length;
    const skipped = steps.filter(({ status }) => status !== "failed" && status !== "passed").length;
    return `  <testsuite name="${escapeXml(id)}" tests="${steps.length}" failures="${failures}" skipped="${skipped}">\n${cases.join("\n")}\n  </testsuite>`;
  });
  const { failed } = report.counts;
  const tests = report.storyboards.reduce((sum, { steps }) => sum + steps.length, 0);
  const head = `<testsuites name="conformance ${escapeXml(report.release.version)}" tests="${tests}" failures="${failed}" time="${(report.tookMs / 1000).toFixed(3)}">`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${head}\n${suites.join("\n")}\n</testsuites>`;
}
