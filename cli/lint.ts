/** `adbind lint`: a release against the rules of the manifest. */
import type { Command } from "commander";
import { checkNames } from "../generator/emit/names.js";
import { lintRelease, rules } from "../generator/lint/release.js";
import { plural, printFindings, printJson, shownPath, userPath } from "./output.js";

/** A row of the table: `ok`, `warn`, `FAIL`, or `-` for a rule that could not be asked. */
function line({ id, level, rule }: (typeof rules)[number], found: number, skipped: boolean): string {
  const verdict = skipped ? "-" : found === 0 ? "ok" : level === "error" ? "FAIL" : "warn";
  return `${verdict.padEnd(4)} ${id.padEnd(24)} ${rule}${found === 0 ? "" : ` (${found})`}`;
}

export function register(command: Command): void {
  command
    .argument("<release>", "a folder that holds a manifest.json, or a .tgz of one")
    .option("--json", "print the findings as JSON")
    .addHelpText(
      "after",
      `\nRules:\n${rules.map(({ id, level, rule }) => `  ${id.padEnd(24)} ${level.padEnd(8)} ${rule}`).join("\n")}`,
    )
    .action(async (source: string, { json }: { json?: boolean }) => {
      const { word, version, findings, notAsked } = await lintRelease(userPath(source), checkNames);
      const errors = findings.filter(({ level }) => level === "error").length;
      if (json) printJson({ word, version, ok: errors === 0, findings, notAsked });
      else {
        printFindings(shownPath(userPath(source)), findings, true);
        for (const row of rules)
          console.log(line(row, findings.filter(({ rule }) => rule === row.id).length, notAsked.includes(row.id)));
        console.log(`${word} ${version}: ${plural(errors, "error")}, ${plural(findings.length - errors, "warning")}`);
      }
      if (errors > 0) process.exitCode = 1;
    });
}
