/** `adbind new`: projects to start from. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { newSeller } from "../generator/scaffold/index.js";
import { plural, printJson, shownPath, userPath } from "./output.js";
import { type ReleaseOptions, releaseHelp, resolveRelease, withReleaseOptions } from "./release/resolve.js";

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

const collect = (value: string, before: string[]): string[] => [...before, value];

export function register(command: Command): void {
  const seller = command.command("seller");
  seller.exitOverride();
  withReleaseOptions(seller)
    .description("a seller for specialisms of a release; on an existing project: what a newer release needs")
    .argument("<folder>", "the project; made when missing")
    .option("--specialism <id>", "what it claims, in snake or kebab case; may be given several times", collect, [])
    .option("--release <release>", `${releaseHelp}; the newest that comes with adbind by default`)
    .option("--with <area>", "an area that stands in no specialism; may be given several times", collect, [])
    .option("--name <name>", "name for people; the folder's by default")
    .option("--adbind <tarball>", "what the project installs adbind from; this version by default")
    .option("--partial", "leave out the tools that missing or dangling files of the release break")
    .option("--force", "write over bindings that were edited by hand")
    .option("--json", "print the result as JSON")
    .addHelpText("after", "\nExample: adbind new seller my-seller --specialism sales_guaranteed")
    .action(async (folder: string, options: Options) => {
      const { specialism, with: areas, release, name, adbind, partial, force, json } = options;
      const target = userPath(folder);
      const result = await newSeller({
        folder: target,
        release: await resolveRelease(release, options),
        specialisms: specialism,
        ...(areas.length > 0 && { with: areas }),
        ...(name !== undefined && { name }),
        ...(partial !== undefined && { partial }),
        ...(force !== undefined && { force }),
        ...(adbind !== undefined && { adbind: dependency(adbind, target) }),
      });
      if (json) return printJson(result);
      const what = result.created ? "written" : "updated";
      console.log(`${shownPath(target)} ${what}: ${result.specialisms.join(", ")} of release ${result.version}`);
      console.log(`${plural(result.files.length, "file")}, ${plural(result.tools.length, "tool")}`);
      if (result.open.length > 0) console.log(`without a behaviour yet: ${result.open.join(", ")}`);
      for (const line of result.byHand) console.log(`add by hand: ${line}`);
      console.log(`next: cd ${shownPath(target)} && npm install && npm test && npm start`);
    });
}
