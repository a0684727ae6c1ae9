/** A report as Markdown, for a pull request. */
import { type ConformanceReport, countsLine } from "../result.js";
import { brokenChecks, repeatCommand, sentenceOf, short, skipsByReason, subjectOf, troublesOf } from "./parts.js";

const cell = (text: string): string => short(text, 300).replaceAll("|", "\\|").replaceAll("<", "&lt;");

/** A fence that the content cannot close. */
function fenced(content: unknown): string {
  const text = JSON.stringify(content, null, 2) ?? "nothing";
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

/** A report as a page to be read. */
export function markdownReport(report: ConformanceReport): string {
  const { suite, release, agent, counts } = report;
  const lines = [
    `# Conformance of ${cell(subjectOf(report))}`,
    "",
    `Suite ${suite.version ?? "of an unknown version"}, schemas of ${release.word} ${release.version}, over ${agent.transport}. **${countsLine(counts)}**`,
    "",
    ...report.notices.map((notice) => `> ${cell(notice)}\n`),
    "| Storyboard | Verdict | Passed | Failed | Skipped |",
    "| --- | --- | ---: | ---: | ---: |",
  ];
  for (const { id, verdict, steps } of report.storyboards) {
    const of = (status: string): number => steps.filter((step) => step.status === status).length;
    lines.push(`| ${cell(id)} | ${verdict} | ${of("passed")} | ${of("failed")} | ${of("skipped")} |`);
  }
  const steps = report.storyboards.flatMap((one) => one.steps);
  const failed = steps.filter(({ status }) => status === "failed");
  if (failed.length > 0) lines.push("", "## Failed");
  for (const step of failed) {
    lines.push("", `### ${cell(step.storyboard)} / ${cell(step.step)}`, "", `Required: ${cell(step.required)}`, "");
    for (const trouble of troublesOf(step)) lines.push(`- ${cell(trouble)}`);
    for (const check of brokenChecks(step))
      lines.push(
        `- \`${check.check}\`: ${cell(sentenceOf(check))}${check.schema ? ` (schema ${cell(check.schema)})` : ""}`,
      );
    lines.push(
      "",
      "Sent:",
      "",
      fenced(step.request?.payload),
      "",
      "Answer:",
      "",
      fenced(step.response?.payload),
      "",
      `Again: \`${repeatCommand(report, step)}\``,
    );
  }
  lines.push("", "## Skipped", "", "| Reason | Steps | Why |", "| --- | ---: | --- |");
  for (const { reason, detail, steps: group } of skipsByReason(steps))
    lines.push(`| ${reason} | ${group.length} | ${cell(detail)} |`);
  return lines.join("\n");
}
