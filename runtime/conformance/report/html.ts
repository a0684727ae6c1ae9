/** A report as one page that works from disk: no script, nothing loaded. */
import { type ConformanceReport, countsLine, type StepResult, type StoryboardResult } from "../result.js";
import { escapeXml as escaped } from "./junit.js";
import { brokenChecks, repeatCommand, sentenceOf, short, skipsByReason, subjectOf, troublesOf } from "./parts.js";

const style = `:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--line:#8a929c;--bad:#a40e26;--good:#116329;--dim:#4b535d;--code:#f1f3f5}
@media(prefers-color-scheme:dark){:root{--ink:#e8ebee;--paper:#14171a;--line:#6b747e;--bad:#ff9492;--good:#7ee2a0;--dim:#b4bcc6;--code:#21262c}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:75rem;margin:0 auto;padding:1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}pre{background:var(--code);padding:.6rem;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}
.failed,.gap{color:var(--bad);font-weight:600}.passed{color:var(--good)}.dim{color:var(--dim)}details{border-bottom:1px solid var(--line);padding:.4rem 0}
main{overflow-wrap:anywhere}td.n,th.n{overflow-wrap:normal}summary{cursor:pointer}a{color:inherit}:focus-visible{outline:3px solid currentColor;outline-offset:2px}.wide{overflow-x:auto}dt{font-weight:600}dd{margin:0 0 .6rem}`;

const json = (value: unknown): string => escaped(JSON.stringify(value, null, 2) ?? "nothing");

/** Characters of a body that the page holds: a run of a thousand steps is still a page. */
const MAX_BODY = 20_000;
const body = (value: unknown): string => {
  const text = json(value);
  return text.length <= MAX_BODY ? text : `${text.slice(0, MAX_BODY)}\n... (${text.length - MAX_BODY} characters more)`;
};

function failure(report: ConformanceReport, step: StepResult): string {
  const checks = brokenChecks(step).map(
    (check) =>
      `<li><code>${escaped(check.check)}</code> ${escaped(check.description ?? "")}<br>${escaped(sentenceOf(check))}${
        check.schema === undefined
          ? ""
          : `<br>schema <code>${escaped(check.schema)}</code> of ${escaped(report.release.version)}`
      }</li>`,
  );
  const troubles = troublesOf(step).map((one) => `<li>${escaped(one)}</li>`);
  const status = step.response?.status === undefined ? "" : ` (HTTP ${step.response.status})`;
  return `<details open><summary><span class="failed">failed</span> ${escaped(step.storyboard)} / <strong>${escaped(step.step)}</strong>: ${escaped(step.title)}</summary>
<dl><dt>Required</dt><dd>${escaped(short(step.required, 1000))}</dd><dt>What did not hold</dt><dd><ul>${[...troubles, ...checks].join("")}</ul></dd>
<dt>Request: ${escaped(step.request?.operation ?? step.task)}</dt><dd><pre tabindex="0">${body(step.request?.payload)}</pre></dd>
<dt>Answer${status}</dt><dd><pre tabindex="0">${body(step.response?.payload)}</pre></dd>
<dt>Run it alone again</dt><dd><pre tabindex="0">${escaped(repeatCommand(report, step))}</pre></dd></dl></details>`;
}

function row({ id, title, verdict, steps, reason }: StoryboardResult): string {
  const of = (status: StepResult["status"]): string =>
    `<td class="n">${steps.filter((step) => step.status === status).length}</td>`;
  const why = reason === undefined ? "" : `<br><span class="dim">${escaped(short(reason))}</span>`;
  return `<tr><th scope="row">${escaped(id)}<br><span class="dim">${escaped(title)}</span></th><td><span class="${verdict}">${verdict.replace("_", " ")}</span>${why}</td>${of("passed")}${of("failed")}${of("skipped")}${of("not_graded")}${of("faulty")}</tr>`;
}

function steps(one: StoryboardResult): string {
  const items = one.steps.map((step) => {
    const why = step.skip === undefined ? (step.fault ?? "") : `${step.skip.reason}: ${step.skip.detail}`;
    return `<li><span class="${step.status}">${step.status.replace("_", " ")}</span> ${escaped(step.step)} <code>${escaped(step.task)}</code>${step.unchecked ? " (no checks)" : ""}${why === "" ? "" : `<br><span class="dim">${escaped(short(why, 500))}</span>`}</li>`;
  });
  return `<details><summary>${escaped(one.id)}: ${one.steps.length} steps</summary><ol>${items.join("\n")}</ol></details>`;
}

/** The page. */
export function htmlReport(report: ConformanceReport): string {
  const { suite, release, agent, counts, storyboards } = report;
  const all = storyboards.flatMap((one) => one.steps);
  const failed = all.filter(({ status }) => status === "failed");
  const skips = skipsByReason(all).map(
    ({ reason, detail, steps: group }) =>
      `<tr><th scope="row">${escaped(reason)}</th><td class="n">${group.length}</td><td>${escaped(short(detail, 500))}</td></tr>`,
  );
  const notices =
    report.notices.length === 0
      ? ""
      : `<ul>${report.notices.map((notice) => `<li>${escaped(notice)}</li>`).join("")}</ul>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Conformance of ${escaped(subjectOf(report))}</title><style>${style}</style></head>
<body><main><h1>Conformance of ${escaped(subjectOf(report))}</h1>
<p>Suite ${escaped(suite.version ?? "of an unknown version")}, schemas of ${escaped(release.word)} ${escaped(release.version)}, over ${agent.transport}, ${escaped(report.startedAt)}.</p>
<p><strong class="${report.ok ? "passed" : "failed"}">${report.ok ? "Conformant" : "Not conformant"}</strong>: ${countsLine(counts)}. ${counts.unchecked} of those passed have no checks; ${counts.advisories} advisory checks do not hold.</p>${notices}
<h2 id="failed">Failed steps (${failed.length})</h2>
${failed.length === 0 ? "<p>None.</p>" : failed.map((step) => failure(report, step)).join("\n")}
<h2 id="storyboards">Storyboards</h2>
<div class="wide" tabindex="0" role="region" aria-labelledby="storyboards"><table><thead><tr><th scope="col">Storyboard</th><th scope="col">Verdict</th><th scope="col" class="n">Passed</th><th scope="col" class="n">Failed</th><th scope="col" class="n">Skipped</th><th scope="col" class="n">Not graded</th><th scope="col" class="n">Faulty</th></tr></thead><tbody>${storyboards.map(row).join("\n")}</tbody></table></div>
<h2 id="skipped">Why steps were skipped</h2>
<div class="wide" tabindex="0" role="region" aria-labelledby="skipped"><table><thead><tr><th scope="col">Reason</th><th scope="col" class="n">Steps</th><th scope="col">What was looked at</th></tr></thead><tbody>${skips.join("\n")}</tbody></table></div>
<h2>Every step</h2>
${storyboards.map(steps).join("\n")}
</main></body></html>
`;
}
