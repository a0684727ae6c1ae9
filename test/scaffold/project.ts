/** A scaffolded project in a temporary folder that finds adbind's sources and the tools of this repository. */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { compilation } from "../runner/compiler.js";
import { fromSource } from "../runner/from-source.js";
import { tempFolder } from "../support/release.js";

export const root = path.resolve(import.meta.dirname, "../..");

/** A folder for projects, with `node_modules` beside them. */
export const workspace = (): string => linked(tempFolder());

/** Has projects below a folder find what they need. @returns the folder */
export function linked(folder: string): string {
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(root, path.join(folder, "node_modules/adbind"));
  symlinkSync(path.join(root, "cli"), path.join(folder, "node_modules/adbind-cli"));
  for (const name of ["@types", "jose"])
    symlinkSync(path.join(root, "node_modules", name), path.join(folder, "node_modules", name));
  return folder;
}

export interface Ran {
  readonly code: number;
  readonly output: string;
}

export const run = (
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ran> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
    child.on("error", (error) => resolve({ code: 1, output: String(error) }));
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });

const checkOptions = { noEmit: true, incremental: false, customConditions: ["adbind-source"] };

/** Has a project compiled against adbind's sources. @returns the configuration's file */
export function checkConfig(project: string): string {
  const config = path.join(project, "tsconfig.check.json");
  writeFileSync(config, JSON.stringify({ extends: "./tsconfig.json", compilerOptions: checkOptions }));
  return config;
}

/** What the compiler says of a configuration, run in a folder. */
export function compilerSays(config: string, folder: string): Promise<Ran> {
  const { command, args, env } = compilation(config);
  return run(command, args, folder, { ...process.env, ...env });
}

/** Type-checks a project as its own `npm run types` does, against adbind's sources. */
export const typeCheck = (project: string): Promise<Ran> => compilerSays(checkConfig(project), project);

/**
 * The same of several projects in one folder, as one program: what they share costs most.
 * @param folders of projects whose configurations are alike
 */
export function typeCheckAll(projects: string, folders: readonly string[]): Promise<Ran> {
  const config = path.join(projects, "tsconfig.all.json");
  writeFileSync(
    config,
    JSON.stringify({
      extends: path.join(folders[0]!, "tsconfig.json"),
      compilerOptions: { ...checkOptions, rootDir: projects },
      include: folders.flatMap((folder) => ["src", "test", "bindings"].map((part) => path.join(folder, part))),
    }),
  );
  return compilerSays(config, projects);
}

/** Runs a project's own tests from source. */
export const ownTests = (project: string): Promise<Ran> =>
  run(process.execPath, [...fromSource, "--test", "test/*.test.ts"], project);
