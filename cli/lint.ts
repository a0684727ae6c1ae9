/** `adbind lint`: a release against the rules of the manifest. */
import type { Command } from "commander";
import { lintRelease, rules } from "../generator/lint/release.js";
import { plural, printFindings, printJson, shownPath, userPath } from "./output.js";

export function register(command: Command): void {
  command
    .argument("<release>", "a folder that holds a manifest.json, or a .tgz of one")
    .option("--json", "print the findings as JSON")
    .addHelpText(
      "after",
      `\nRules:\n${rules.map(({ id, level, rule }) => `  ${id.padEnd(22)} ${level.padEnd(8)} ${rule}`).join("\n")}`,
    )
    .action(async (source: string, { json }: { json?: boolean }) => {
      const { word, version, findings } = await lintRelease(userPath(source));
      const errors = findings.filter(({ level }) => level === "error").length;
      if (json) printJson({ word, version, ok: errors === 0, findings });
      else {
        printFindings(shownPath(userPath(source)), findings, true);
        for (const { id, level, rule } of rules) {
          const found = findings.filter((finding) => finding.rule === id).length;
          console.log(
            `${found === 0 ? "ok  " : level === "error" ? "FAIL" : "warn"} ${id.padEnd(22)} ${rule}${found === 0 ? "" : ` (${found})`}`,
          );
        }
        console.log(`${word} ${version}: ${plural(errors, "error")}, ${plural(findings.length - errors, "warning")}`);
      }
      if (errors > 0) process.exitCode = 1;
    });
}
