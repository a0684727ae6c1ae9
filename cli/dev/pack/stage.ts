/** Both packages as folders, ready to be packed: built, split and with what else each ships. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { manifestOf, type PackageName, packages, repository } from "./packages.js";
import { builtFiles, splitBuild, withoutOwn } from "./split.js";

/** Folders of the staged packages. */
export type Staged = Readonly<Record<PackageName, string>>;

/** Beside what `files` names npm always packs these. */
const ALWAYS = ["README.md", "LICENSE"];

/**
 * Builds and stages both packages.
 * @param folder gets a folder for each; what was there is removed
 * @param compiler with its arguments; it is given the project and where to write
 * @throws Error when the compiler finds a fault
 */
export function stagePackages(folder: string, [compiler, ...args]: readonly [string, ...string[]]): Staged {
  rmSync(folder, { recursive: true, force: true });
  const build = path.join(folder, "build");
  const project = ["-p", path.join(repository, "tsconfig.build.json"), "--outDir", build];
  execFileSync(compiler, [...project, ...args], { cwd: repository, stdio: ["ignore", "inherit", "inherit"] });
  const split = splitBuild(build);
  const names = Object.keys(packages) as PackageName[];
  for (const name of names) {
    const own = path.join(folder, name);
    for (const file of builtFiles(build, split[name])) {
      const text = readFileSync(path.join(build, file), "utf8");
      const target = path.join(own, "dist", file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, name === "adbind" ? text : withoutOwn(text, file, split.adbind));
    }
    for (const file of [...manifestOf(name).files.filter((one) => one !== "dist"), ...ALWAYS]) {
      // What stands beside the package's own package.json goes before what stands at the repository.
      const beside = path.join(path.dirname(path.join(repository, packages[name].manifest)), file);
      cpSync(existsSync(beside) ? beside : path.join(repository, file), path.join(own, file), { recursive: true });
    }
    cpSync(path.join(repository, packages[name].manifest), path.join(own, "package.json"));
  }
  rmSync(build, { recursive: true });
  return Object.fromEntries(names.map((name) => [name, path.join(folder, name)])) as unknown as Staged;
}

/** Packs a staged package. @param place folder that gets the tarball @returns its file */
export function packStaged(staged: string, place: string): string {
  mkdirSync(place, { recursive: true });
  const args = ["pack", "--json", "--ignore-scripts", "--loglevel=error", "--pack-destination", path.resolve(place)];
  const [packed] = JSON.parse(execFileSync("npm", args, { cwd: staged, encoding: "utf8" })) as [{ filename: string }];
  return path.join(place, packed.filename);
}
