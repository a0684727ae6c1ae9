/** The packages as they would be published, from a build of their own: `dist/` in the tree belongs to whoever is working there. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { type PackageName, packages, repository } from "../../cli/dev/pack/packages.js";
import { packStaged, type Staged, stagePackages } from "../../cli/dev/pack/stage.js";
import type { Tarballs } from "../../cli/dev/pack/weigh.js";
import { tempFolder } from "./release.js";

export const quietNpm = [
  "--fetch-retries=3",
  "--fetch-retry-mintimeout=500",
  "--fetch-retry-maxtimeout=4000",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
];

const names = Object.keys(packages) as PackageName[];

/** What is packed, built and not packed yet. @param compiler that builds it */
export const staged = (compiler: string): Staged =>
  // The run's own check of types says whether they are right.
  stagePackages(tempFolder(), [compiler, "--noCheck"]);

/** The tarballs of what is staged. */
export function packed(stage: Staged): Tarballs {
  const place = tempFolder();
  return Object.fromEntries(names.map((name) => [name, packStaged(stage[name], place)])) as unknown as Tarballs;
}

/**
 * Puts the packages alone into a folder of packages; what they depend on is this repository's.
 * @returns where adbind-cli is
 */
export function unpack(tarballs: Tarballs, folder: string): string {
  for (const name of names) {
    const own = path.join(folder, "node_modules", name);
    mkdirSync(own, { recursive: true });
    execFileSync("tar", ["-xzf", tarballs[name], "-C", own, "--strip-components=1"]);
    symlinkSync(path.join(repository, "node_modules"), path.join(own, "node_modules"));
  }
  return path.join(folder, "node_modules/adbind-cli");
}
