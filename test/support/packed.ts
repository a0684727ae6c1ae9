/** The package as it would be published, from a build of its own: `dist/` in the tree belongs to whoever is working there. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { tempFolder } from "./release.js";

const root = path.resolve(import.meta.dirname, "../..");

export const quietNpm = ["--no-audit", "--no-fund", "--loglevel=error"];

/** What is packed, built and not packed yet. @param compiler that builds it */
export function staged(compiler: string): string {
  const folder = tempFolder();
  const { files } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { files: string[] };
  const copied = [...files.filter((name) => name !== "dist"), "package.json", "README.md", "LICENSE"];
  execFileSync("cp", ["-r", ...copied.map((name) => path.join(root, name)), folder]);
  // The run's own check of types says whether they are right.
  const build = ["-p", path.join(root, "tsconfig.build.json"), "--noCheck", "--outDir", path.join(folder, "dist")];
  execFileSync(compiler, build, { cwd: root });
  return folder;
}

/** The tarball of what is staged. */
export function packed(folder: string): string {
  const place = tempFolder();
  execFileSync("npm", ["pack", "--ignore-scripts", ...quietNpm, "--pack-destination", place], { cwd: folder });
  return path.join(place, readdirSync(place).find((file) => file.endsWith(".tgz"))!);
}

/** Puts the package alone into a folder of packages; what it depends on is this repository's. */
export function unpack(tarball: string, folder: string): string {
  const own = path.join(folder, "node_modules/adbind");
  mkdirSync(own, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", own, "--strip-components=1"]);
  symlinkSync(path.join(root, "node_modules"), path.join(own, "node_modules"));
  return own;
}
