/** `adbind upgrade`: a project onto a newer release: a worksheet, what is safe to change, and whether it holds afterwards. */
import type { Command } from "commander";
import type { Model } from "../generator/model/model.js";
import { compareVersions } from "../runtime/contract/version-order.js";
import { AdbindError } from "../runtime/errors.js";
import { loadSides } from "./diff/load.js";
import { mentionsIn } from "./diff/mentions.js";
import { exitCodes } from "./failure.js";
import { printJson } from "./output.js";
import { type ReleaseOptions, releaseHelp, resolveRelease, withReleaseOptions } from "./release/resolve.js";
import { type AppliedUpgrade, applyUpgrade } from "./upgrade/apply.js";
import { appliedLines, proofLines, worksheetLines } from "./upgrade/lines.js";
import { olderRelease, openProject } from "./upgrade/project.js";
import { type ProjectProof, proveProject } from "./upgrade/proof.js";
import { type Worksheet, worksheetOf } from "./upgrade/worksheet.js";

interface Options extends ReleaseOptions {
  to: string;
  from?: string;
  apply?: boolean;
  suites?: string[];
  json?: boolean;
}

/** As `--json` prints it. */
export interface Upgrade {
  readonly worksheet: Worksheet;
  readonly applied?: AppliedUpgrade;
  readonly proof?: ProjectProof;
}

/** @throws AdbindError usage for a release before the project's own: nobody goes back by mistake */
function assertNewer(older: Model, newer: Model): void {
  if (older.word !== newer.word || compareVersions(newer.version, older.version) >= 0) return;
  throw new AdbindError("usage", `the project is of release ${older.version}, and ${newer.version} is older`, {
    where: "--to",
    remedy: "give a newer one; adbind diff compares any two, and adbind generate writes bindings of either",
  });
}

async function upgrade(given: string, options: Options): Promise<Upgrade> {
  const project = openProject(given);
  const release = await resolveRelease(options.to, options);
  const [older, newer] = await loadSides([options.from ?? olderRelease(project, release), release], options);
  assertNewer(older.model, newer.model);
  const mentions = mentionsIn(given);
  const worksheet = worksheetOf([older, newer], mentions);
  if (!options.apply) return { worksheet };
  const applied = await applyUpgrade(project, { release, model: newer.model }, mentions);
  return { worksheet, applied, proof: await proveProject(project.folder) };
}

export function register(command: Command): void {
  withReleaseOptions(command.argument("[project]", "folder of the project; where you stand by default", "."))
    .requiredOption("--to <release>", `the newer release: ${releaseHelp}`)
    .option("--from <release>", "the release it is on; by default the one of its bindings")
    .option("--suites <folders...>", "storyboards and vectors of both; by default those the releases come with")
    .option("--apply", "make the changes that are safe, then type-check the project and run its tests")
    .option("--json", "print it as JSON")
    .addHelpText(
      "after",
      `
Without --apply nothing is written. Safe to change are the bindings, where they are imported from, the release in
adbind.config.json, and arms that handlers lack: those throw until they are written. Of a seller that adbind new made, also
the files and entries that its specialisms need now.
Exit codes: 0 nothing is broken, or all holds after --apply; 1 something breaks, or does not hold; 2 the command line is wrong.

Example: adbind upgrade my-seller --to releases/3.1.19 --apply`,
    )
    .action(async (given: string, options: Options) => {
      const done = await upgrade(given, options);
      const { worksheet, applied, proof } = done;
      const holds =
        proof === undefined
          ? [...worksheet.byHand, ...worksheet.graded].every(({ verdict }) => verdict !== "broken")
          : proof.types !== "failed" && proof.tests !== "failed";
      if (!holds) process.exitCode = exitCodes.failed;
      if (options.json) return printJson(done);
      const lines = [
        ...worksheetLines(worksheet),
        ...(applied === undefined ? [] : appliedLines(applied)),
        ...(proof === undefined ? [] : proofLines(proof)),
      ];
      console.log(lines.join("\n"));
    });
}
