/** adbind as a user has it: built, in a folder of its own, so that a build of the project meanwhile changes nothing. */
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const root = path.resolve(import.meta.dirname, "../..");

/** TypeScript's command line, as a module for `node`. */
export const tsc = path.join(root, "node_modules/typescript/lib/tsc.js");

export interface BuiltPackage {
  /** What `node_modules/adbind` would be. */
  folder: string;
  /** The command: `node <cli> generate ...`. */
  cli: string;
  /** The floor program, compiled. */
  floor: string;
}

/**
 * Builds the package with the project's own build settings.
 * @param folder gets it; must not exist
 * @throws Error when the compiler wrote no command
 */
export function buildPackage(folder: string): BuiltPackage {
  mkdirSync(folder, { recursive: true });
  const built = path.join(folder, "dist");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", built], {
    cwd: root,
    encoding: "utf8",
  });
  const cli = path.join(built, "cli/main.js");
  if (!existsSync(cli)) throw new Error(`the build wrote no command:\n${stdout}`);
  // The compiler writes what it can; a fault in a part that is not measured is no reason not to measure.
  if (status !== 0) console.error(`bench: the build reports faults:\n${stdout.replace(/^/gm, "  ")}`);
  copyFileSync(path.join(root, "package.json"), path.join(folder, "package.json"));
  cpSync(path.join(root, "templates"), path.join(folder, "templates"), { recursive: true });
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"), "dir");
  return { folder, cli, floor: transpile(path.join(import.meta.dirname, "floor.ts"), path.join(folder, "bench")) };
}

/** Types are taken off before it is run: node would load a transformer for them, and so slow what others are held against. */
export function transpile(file: string, folder: string): string {
  const { outputText } = ts.transpileModule(readFileSync(file, "utf8"), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  });
  mkdirSync(folder, { recursive: true });
  const output = path.join(folder, `${path.basename(file, ".ts")}.js`);
  writeFileSync(output, outputText);
  return output;
}
