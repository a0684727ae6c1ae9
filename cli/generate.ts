/** `adbind generate`: bindings from releases. */
import type { Command } from "commander";
import type { GenerateResult, ReleaseResult } from "../generator/run.js";
import { generate } from "../generator/run.js";
import { plural, printFindings, printJson, shownPath, userPath } from "./output.js";

interface Options {
  out: string;
  check?: boolean;
  standalone?: boolean;
  open?: boolean;
  partial?: boolean;
  force?: boolean;
  json?: boolean;
}

const verb: Record<ReleaseResult["outcome"], string> = {
  written: "written",
  unchanged: "unchanged",
  same: "up to date",
  different: "differs",
  refused: "refused",
};

function line(result: ReleaseResult): string {
  const name = result.version === "" ? shownPath(result.source) : `${result.word} ${result.version}`;
  const counts =
    result.files === 0
      ? ""
      : `  ${plural(result.tools, "tool")}, ${plural(result.codes, "code")}, ${plural(result.specialisms, "specialism")}, ${plural(result.files, "file")}`;
  return `${name.padEnd(20)} ${verb[result.outcome].padEnd(10)}${counts}  ${(result.took / 1000).toFixed(2)} s`;
}

/** On a terminal a line per release as it is done, on stderr, so that stdout stays for `--json`. */
const progress = (result: ReleaseResult): void => console.error(line(result));

function report({ releases }: GenerateResult, out: string): void {
  for (const release of releases) {
    printFindings(shownPath(release.source), release.findings);
    for (const { tool, because } of release.leftOut) {
      console.error(`left out ${tool} of ${release.version}:`);
      for (const reason of because) console.error(`  ${reason}`);
    }
    for (const { file, what } of release.differences)
      console.error(`${what.padEnd(9)} ${shownPath(`${out}/${release.version}/${file}`)}`);
  }
  if (releases.some(({ outcome }) => outcome === "refused")) console.error("nothing was written");
  if (releases.some(({ outcome }) => outcome === "different"))
    console.error("run adbind generate without --check and commit the result");
}

export function register(command: Command): void {
  command
    .argument("<release...>", "folders that hold a manifest.json, or .tgz files of them")
    .option("--out <folder>", "gets one folder per release", "generated")
    .option("--check", "compare instead of writing; exit 1 when anything differs")
    .option("--standalone", "also emit precompiled validators, for runtimes that may not compile code")
    .option("--open", "let types take names that their schema neither declares nor forbids")
    .option("--partial", "leave out the tools that missing or dangling files break")
    .option("--force", "write even when nothing changed")
    .option("--json", "print the result as JSON")
    .addHelpText("after", "\nExample: adbind generate releases/3.1.19 releases/3.2.0-beta.0 --out src/generated")
    .action(async (sources: string[], given: Options) => {
      const { out, json, ...options } = given;
      const folder = userPath(out);
      const result = await generate(sources.map(userPath), {
        ...options,
        out: folder,
        ...(!json && { onProgress: progress }),
      });
      if (json) printJson(result);
      else report(result, folder);
      if (!result.ok) process.exitCode = 1;
    });
}
