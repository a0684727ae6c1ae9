/** `adbind releases show`: what a release says about itself, and where it says it. */
import type { Command } from "commander";
import { checkRelease } from "../../generator/lint/check.js";
import { loadRelease } from "../../generator/load/load.js";
import { releaseFacts } from "../../generator/model/build.js";
import { missingFacts, type PackageFacts } from "../../generator/model/facts/derive.js";
import { AdbindError } from "../../runtime/errors.js";
import { printJson } from "../output.js";
import { isFact } from "./fact.js";
import { type ReleaseOptions, releaseHelp, resolveRelease, withReleaseOptions } from "./resolve.js";

/** What is printed of one release. */
interface Shown {
  readonly release: { readonly word: string; readonly version: string; readonly digest: string };
  readonly facts: Omit<PackageFacts, "assumed">;
  /** Facts that the release's files do not show. */
  readonly missing: readonly string[];
  /** What was assumed of a release that is newer than any known. */
  readonly assumed: readonly string[];
}

/**
 * Reads the facts of a release.
 * @param source path of the release
 * @throws AdbindError `release_unreadable`, `release_invalid`
 */
async function shownRelease(source: string): Promise<Shown> {
  const loaded = await loadRelease(source);
  // A tool that cannot be generated breaks none of the facts.
  const { findings } = await checkRelease(loaded, { partial: true, levels: ["error"] });
  const fault = findings.find(({ level, file }) => level === "error" && file === "manifest.json");
  if (fault !== undefined) {
    const remedy = "adbind lint tells more";
    throw new AdbindError("release_invalid", `the release cannot be read: ${fault.message}`, { where: source, remedy });
  }
  const { assumed, ...facts } = releaseFacts(loaded);
  const { word, version, digest } = loaded;
  return { release: { word, version, digest }, facts, missing: missingFacts({ ...facts, assumed }), assumed };
}

/** Characters of a value that a line shows; `--json` has it whole. */
const SHOWN_CHARS = 100;

const shortened = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}...`;
};

/** One line a fact: its name, its value, its place. */
function printFacts(name: string, held: object): void {
  for (const [key, value] of Object.entries(held)) {
    const full = `${name}.${key}`;
    if (isFact(value)) console.log(`${full}: ${shortened(value.value)}  [${value.from}]`);
    else if (typeof value === "object" && value !== null) printFacts(full, value);
  }
}

export function registerShow(command: Command): void {
  command.exitOverride();
  withReleaseOptions(command.argument("<release>", releaseHelp))
    .description(
      "what a release says about itself: how it signs, answers, tells events; each with the place that shows it",
    )
    .option("--json", "print it as JSON, values whole")
    .addHelpText(
      "after",
      `
A place is a file of the release and a JSON pointer into it, or "version" where only the number tells. A release newer than
any that is known is taken to be as the newest known one; what was assumed is told.

Example: adbind releases show releases/3.1.0 --json`,
    )
    .action(async (given: string, { json, ...options }: ReleaseOptions & { json?: boolean }) => {
      const { assumed, ...shown } = await shownRelease(await resolveRelease(given, options));
      for (const one of assumed) console.error(`warning: assumed: ${one}`);
      if (json) return printJson({ ...shown, assumed });
      const { word, version, digest } = shown.release;
      console.log(`${word} ${version} (digest ${digest})`);
      for (const [group, held] of Object.entries(shown.facts)) printFacts(group, held);
      for (const name of shown.missing) console.log(`missing: ${name}`);
    });
}
