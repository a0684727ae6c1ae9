/** `adbind explain`: what a release says of a code, a tool, a field, a specialism; and what a finding of `adbind diff` means. */
import type { Command } from "commander";
import { diffReleases } from "../generator/diff/diff.js";
import { diffRules } from "../generator/diff/rules.js";
import type { DiffSide } from "../generator/diff/side.js";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import { loadSide } from "./diff/load.js";
import { explainedLines } from "./explain/lines.js";
import { releasesAtHand, span } from "./explain/releases.js";
import {
  type Explained,
  explainCode,
  explainField,
  explainSpecialism,
  explainTool,
  type FindingExplained,
} from "./explain/subjects.js";
import { printJson } from "./output.js";
import { type ReleaseOptions, releaseHelp, resolveRelease, withReleaseOptions } from "./release/resolve.js";

interface Options extends ReleaseOptions {
  release?: string;
  since?: string;
  json?: boolean;
}

const FINDING_ID = /^[0-9a-f]{16}$/;

async function explainFinding(id: string, side: DiffSide, options: Options): Promise<FindingExplained> {
  if (options.since === undefined)
    throw new AdbindError("usage", "a finding is of two releases", {
      where: id,
      remedy: `adbind explain ${id} --since OLDER --release NEWER`,
    });
  const older = await loadSide(options.since, options);
  const finding = diffReleases(older, side).findings.find((one) => one.id === id);
  if (finding === undefined)
    throw new AdbindError(
      "usage",
      `there is no finding ${id} between ${older.model.version} and ${side.model.version}`,
      {
        remedy: "take an id that adbind diff prints for these two releases",
      },
    );
  return { kind: "finding", finding, rule: diffRules.find((one) => one.id === finding.rule)?.rule ?? "" };
}

async function explain(subject: string, options: Options): Promise<Explained> {
  const place = await resolveRelease(options.release, options);
  const side = await loadSide(place, options);
  if (FINDING_ID.test(subject)) return explainFinding(subject, side, options);
  const found = explainCode(side, subject) ?? explainTool(side, subject) ?? explainSpecialism(side, subject);
  if (found !== undefined) {
    const releases = await releasesAtHand(place, side.model.word);
    if (found.kind === "code") return { ...found, ...span(releases, "codes", found.code) };
    if (found.kind === "tool") return { ...found, ...span(releases, "tools", found.tool) };
    return { ...found, ...span(releases, "specialisms", found.specialism) };
  }
  const field = explainField(side, subject);
  if (field !== undefined) return field;
  throw new AdbindError(
    "usage",
    `${side.model.word} ${side.model.version} has no code, tool, specialism or field ${subject}`,
    {
      remedy: "codes are in capitals, fields by their name or as tool.field; --release names another release",
    },
  );
}

export function register(command: Command): void {
  withReleaseOptions(
    command.argument("<subject>", "a code, tool, specialism, field (or tool.field), or the id of a finding"),
  )
    .option("--release <release>", `${releaseHelp}; the newest that comes with adbind by default`)
    .option("--since <release>", "for a finding: the older release")
    .option("--json", "print it as JSON")
    .addHelpText(
      "after",
      `
Nothing is fetched: the release says it all. First and last release are those at hand: beside the one given, in the cache,
and in the package.

Examples: adbind explain BUDGET_TOO_LOW --release releases/3.1.19
          adbind explain create_media_buy.total_budget --release releases/3.1.19`,
    )
    .action(async (subject: string, options: Options) => {
      const explained = await explain(subject, options);
      if (options.json) return printJson(explained);
      for (const line of explainedLines(explained)) console.log(printable(line));
    });
}
