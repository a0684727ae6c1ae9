/** `adbind new`: projects to start from. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { compiles, newSeller } from "../generator/scaffold/index.js";
import { plural, printJson, shownPath, userPath } from "./output.js";
import { type ReleaseOptions, releaseHelp, resolveForNew, withReleaseOptions } from "./release/resolve.js";

interface Options extends ReleaseOptions {
  specialism: string[];
  with: string[];
  release?: string;
  name?: string;
  adbind?: string;
  partial?: boolean;
  force?: boolean;
  json?: boolean;
}

/** A tarball as the project names it, so that both may be moved together; anything else is a version range. */
const dependency = (given: string, project: string): string =>
  existsSync(userPath(given)) ? `file:${path.relative(project, userPath(given)).split(path.sep).join("/")}` : given;

/** What of the user's no longer compiles, with what to write. */
function compileFaults(folder: string): string[] {
  if (!existsSync(path.join(folder, "node_modules/adbind")))
    return ["npm install comes first: nothing can be said yet of what still compiles"];
  const { faults, more } = compiles(folder);
  const lines = faults.flatMap(({ place, what, write }) => [
    `no longer compiles: ${place}: ${what}`,
    ...write.map((one) => `  write: ${one}`),
  ]);
  return more > 0 ? [...lines, `and ${more} more: npm run types`] : lines;
}

const collect = (value: string, before: string[]): string[] => [...before, value];

export function register(command: Command): void {
  const seller = command.command("seller");
  seller.exitOverride();
  withReleaseOptions(seller)
    .description("a seller for specialisms of a release; on an existing project: what a newer release needs")
    .argument("<folder>", "the project; made when missing")
    .option("--specialism <id>", "what it claims, in snake or kebab case; may be given several times", collect, [])
    .option("--release <release>", `${releaseHelp}; the newest in the cache by default`)
    .option("--with <area>", "an area that stands in no specialism; may be given several times", collect, [])
    .option("--name <name>", "name for people; the folder's by default")
    .option("--adbind <tarball>", "what the project installs adbind from; this version by default")
    .option("--partial", "leave out the tools that missing or dangling files of the release break")
    .option("--force", "write over bindings that were edited by hand")
    .option("--json", "print the result as JSON")
    .addHelpText(
      "after",
      `
Of specialisms that adbind answers the project has ports, configuration and a test; what it does comes with adbind. On an
existing project: the bindings of the release, the ports it lacks, and what of yours no longer compiles, with what to write.

Example: adbind new seller my-seller --release proto@3.1.0 --specialism sales_guaranteed`,
    )
    .action(async (folder: string, options: Options) => {
      const { specialism, with: areas, release, name, adbind, partial, force, json } = options;
      const target = userPath(folder);
      const result = await newSeller({
        folder: target,
        release: await resolveForNew(release, options),
        specialisms: specialism,
        ...(areas.length > 0 && { with: areas }),
        ...(name !== undefined && { name }),
        ...(partial !== undefined && { partial }),
        ...(force !== undefined && { force }),
        ...(adbind !== undefined && { adbind: dependency(adbind, target) }),
      });
      const faults = result.created ? [] : compileFaults(target);
      if (json) return printJson({ ...result, faults });
      const what = result.created ? "written" : "updated";
      console.log(`${shownPath(target)} ${what}: ${result.specialisms.join(", ")} of release ${result.version}`);
      console.log(`${plural(result.files.length, "file")}, ${plural(result.tools.length, "tool")}`);
      if (result.open.length > 0) console.log(`missing, nobody answers: ${result.open.join(", ")}`);
      for (const line of result.byHand) console.log(`add by hand: ${line}`);
      for (const line of faults) console.log(line);
      console.log(`next: cd ${shownPath(target)} && npm install && npm test && npm start`);
    });
}
