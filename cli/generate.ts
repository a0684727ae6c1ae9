/** `adbind generate`: bindings from releases. */
import { type Command, Option } from "commander";
import { type ImportExtension, importExtensions } from "../generator/emit/import-extension.js";
import type { GenerateResult, ReleaseResult } from "../generator/result.js";
import { type GenerateOptions, generate } from "../generator/run.js";
import { AdbindError } from "../runtime/errors.js";
import { type Config, readGenerateConfig } from "./config.js";
import { interruption } from "./interrupt.js";
import { plural, printFindings, printJson, shownPath, userPath } from "./output.js";
import { generateProgress, isWatched } from "./progress.js";
import { type ReleaseOptions, releaseHelp, resolveReleases, withReleaseOptions } from "./release/resolve.js";

interface Options extends ReleaseOptions {
  out?: string;
  config?: string;
  tools: string[];
  protocol: string[];
  specialism: string[];
  check?: boolean;
  standalone?: boolean;
  importExtension?: ImportExtension;
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
  withheld: "withheld",
};

function line(result: ReleaseResult): string {
  const name = result.version === "" ? shownPath(result.source) : `${result.word} ${result.version}`;
  const counts =
    result.files === 0
      ? ""
      : `  ${plural(result.tools, "tool")}, ${plural(result.codes, "code")}, ${plural(result.specialisms, "specialism")}, ${plural(result.files, "file")}`;
  return `${name.padEnd(20)} ${verb[result.outcome].padEnd(10)}${counts}  ${(result.took / 1000).toFixed(2)} s`;
}

function report({ releases, passedOver }: GenerateResult, out: string): void {
  for (const { path, why } of passedOver) console.error(`passed over ${shownPath(path)}: ${why}`);
  for (const release of releases) {
    // Of warnings only those come this far that are told wherever a release is generated from.
    printFindings(shownPath(release.source), release.findings, { warnings: true });
    for (const other of release.alsoFrom)
      console.error(`${shownPath(other)} is the same release as ${shownPath(release.source)}`);
    for (const { tool, because } of release.leftOut) {
      console.error(`left out ${tool} of ${release.version}:`);
      for (const reason of because) console.error(`  ${reason}`);
    }
    for (const { file, what } of release.differences)
      console.error(`${what.padEnd(14)} ${shownPath(`${out}/${release.version}/${file}`)}`);
  }
  if (releases.some(({ outcome }) => outcome === "refused")) console.error("nothing was written");
  if (releases.some(({ outcome }) => outcome === "different"))
    console.error("run adbind generate without --check and commit the result");
  if (releases.some(({ differences }) => differences.some(({ what }) => what === "edited by hand")))
    console.error("what was edited by hand is overwritten only with --force");
}

/** Names given in several options, or in one with commas between them. */
const collect = (value: string, before: string[]): string[] => [
  ...before,
  ...value.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()])),
];

/** The part to generate: what the command line names, or else what the config does. */
function partFor({ tools, protocol, specialism }: Options, { filters = {} }: Config): Config["filters"] & object {
  const given = tools.length + protocol.length + specialism.length > 0;
  return given ? { tools, protocols: protocol, specialisms: specialism } : filters;
}

function declare(command: Command): Command {
  const releases = `${releaseHelp}; or a folder of releases`;
  return withReleaseOptions(command.argument("[release...]", `${releases}; those of adbind.config.json by default`))
    .option("--out <folder>", "gets one folder per release (default: generated)")
    .option("--tools <names>", "generate these tools only", collect, [])
    .option("--protocol <names>", "generate the tools of these protocols only", collect, [])
    .option("--specialism <ids>", "generate what these specialisms need only, in snake or kebab case", collect, [])
    .option("--check", "compare instead of writing; exit 1 when anything differs")
    .option("--standalone", "also emit precompiled validators, for runtimes that may not compile code")
    .option("--no-standalone", "emit none, whatever the config says")
    .addOption(
      new Option(
        "--import-extension <name>",
        "what imports in the output end in (default: js); ts lets plain node run it",
      ).choices(importExtensions),
    )
    .option("--open", "let types take names that their schema neither declares nor forbids")
    .option("--partial", "leave out the tools that missing or dangling files break")
    .option("--no-partial", "refuse such a release, whatever the config says")
    .option("--force", "write even when nothing changed, and over generated files that were edited by hand")
    .option("--config <file>", "read instead of adbind.config.json; options win over it")
    .option("--json", "print the result as JSON")
    .addHelpText(
      "after",
      `
--tools, --protocol and --specialism may be given together and several times, with commas between names: the part has
everything that is named. A specialism comes with the tools it exercises, those they fall back to, the capabilities tool,
and get_task_status when one of them is asynchronous. Specialisms that lack nothing in the part stay in it.

Examples: adbind generate releases/3.1.19 releases/3.2.0-beta.0 --out src/generated
          adbind generate downloads/3.1.19.tgz --specialism sales-guaranteed`,
    );
}

/** What decides what is generated: the command line, or else the config. */
const settingsFor = (options: Options, config: Config): Omit<GenerateOptions, "out"> => ({
  part: partFor(options, config),
  standalone: options.standalone ?? config.standalone ?? false,
  partial: options.partial ?? config.partial ?? false,
  open: options.open ?? config.open ?? false,
  importExtension: options.importExtension ?? config.importExtension ?? "js",
  ...(options.check && { check: true }),
  ...(options.force && { force: true }),
  ...(options.sha256 !== undefined && { sha256: options.sha256 }),
});

export function register(command: Command): void {
  declare(command).action(async (given: string[], options: Options) => {
    const config = await readGenerateConfig(options.config);
    const named = given.length > 0 ? given : (config.releases ?? []);
    if (named.length === 0)
      throw new AdbindError("usage", "no release is given", {
        remedy: `give ${releaseHelp}, or list releases in adbind.config.json`,
      });
    const source = options.source ?? config.source;
    const where = { ...(source !== undefined && { source }), ...(options.sha256 && { sha256: options.sha256 }) };
    const releases: string[] = [];
    for (const one of named) releases.push(await resolveReleases(one, where));
    const out = options.out === undefined ? (config.out ?? userPath("generated")) : userPath(options.out);
    const { signal, heed } = interruption();
    const bar = !options.json && isWatched() ? generateProgress(releases.length, shownPath) : undefined;
    try {
      const result = await generate(releases, {
        ...settingsFor(options, config),
        out,
        signal,
        onStep(step) {
          if (step.step === "write") heed();
          bar?.step(step);
        },
        // On stderr, so that stdout stays for `--json`.
        ...(!options.json && { onProgress: (one) => (bar?.line ?? console.error)(line(one)) }),
      });
      bar?.stop();
      if (options.json) printJson(result);
      else report(result, out);
      if (!result.ok) process.exitCode = 1;
    } finally {
      bar?.stop();
    }
  });
}
