/** `adbind lint`: a release against the rules of the manifest. */
import type { Command } from "commander";
import { lintRelease, rules } from "../generator/lint/release.js";
import { plural, printFindings, printJson, shownPath } from "./output.js";
import { type ReleaseOptions, releaseHelp, resolveRelease, withReleaseOptions } from "./release/resolve.js";

interface Options extends ReleaseOptions {
  all?: boolean;
  json?: boolean;
}

/** A row of the table: `ok`, `warn`, `FAIL`, or `-` for a rule that could not be asked. */
function line({ id, level, rule }: (typeof rules)[number], found: number, skipped: boolean): string {
  const verdict = skipped ? "-" : found === 0 ? "ok" : level === "error" ? "FAIL" : "warn";
  return `${verdict.padEnd(4)} ${id.padEnd(24)} ${rule}${found === 0 ? "" : ` (${found})`}`;
}

export function register(command: Command): void {
  withReleaseOptions(command.argument("<release>", releaseHelp))
    .option("--all", "list every place of findings that are alike")
    .option("--json", "print the findings as JSON")
    .addHelpText(
      "after",
      `\nRules:\n${rules.map(({ id, level, rule }) => `  ${id.padEnd(24)} ${level.padEnd(8)} ${rule}`).join("\n")}`,
    )
    .action(async (given: string, { all = false, json, ...options }: Options) => {
      const source = await resolveRelease(given, options);
      const { word, version, findings, notAsked } = await lintRelease(source);
      const errors = findings.filter(({ level }) => level === "error").length;
      if (json) printJson({ word, version, ok: errors === 0, findings, notAsked });
      else {
        printFindings(shownPath(source), findings, { warnings: true, all });
        for (const row of rules)
          console.log(line(row, findings.filter(({ rule }) => rule === row.id).length, notAsked.includes(row.id)));
        console.log(`${word} ${version}: ${plural(errors, "error")}, ${plural(findings.length - errors, "warning")}`);
      }
      if (errors > 0) process.exitCode = 1;
    });
}
