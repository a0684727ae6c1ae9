/** The forms that a report of conformance is printed in. */
import type { Command } from "commander";
import {
  type ConformanceReport,
  htmlReport,
  junitReport,
  markdownReport,
  redactedReport,
  textReport,
} from "../../runtime/conformance/index.js";
import { AdbindError } from "../../runtime/errors.js";
import { printJson } from "../output.js";
import { isWatched } from "../progress.js";

export interface FormOptions {
  json?: boolean;
  junit?: boolean;
  markdown?: boolean;
  html?: boolean;
  all?: boolean;
}

export const withFormOptions = (command: Command): Command =>
  command
    .option("--all", "list every step")
    .option("--json", "print the report as JSON")
    .option("--junit", "print the report as JUnit XML")
    .option("--markdown", "print the report as Markdown")
    .option("--html", "print the report as one HTML page");

/** The one form a report is printed in. @throws AdbindError `usage` */
export function formOf(options: FormOptions): "json" | "junit" | "markdown" | "html" | "text" {
  const forms = (["json", "junit", "markdown", "html"] as const).filter((form) => options[form] === true);
  if (forms.length > 1)
    throw new AdbindError("usage", `--${forms.join(" and --")} are two forms of one report`, {
      remedy: "give one of them",
    });
  return forms[0] ?? "text";
}

export function printReport(report: ConformanceReport, options: FormOptions): void {
  const shown = redactedReport(report);
  const form = formOf(options);
  if (form === "json") printJson(shown);
  else if (form === "junit") console.log(junitReport(shown));
  else if (form === "markdown") console.log(markdownReport(shown));
  else if (form === "html") console.log(htmlReport(shown));
  else console.log(textReport(shown, { all: options.all === true }));
}

/** Which storyboard a long run is at, on a terminal that somebody looks at. */
export function storyboardProgress(): {
  begin: (id: string, count: number, total: number) => void;
  stop: () => void;
} {
  const watched = isWatched();
  const put = (text: string): void => void (watched && process.stderr.write(`\r\x1b[K${text}`));
  return { begin: (id, count, total) => put(`${count}/${total} ${id}`), stop: () => put("") };
}
