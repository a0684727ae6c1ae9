/** A project that uses generated bindings: what tsc and node are measured on. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type BuiltPackage, tsc } from "./package.js";

const programFile = path.resolve(import.meta.dirname, "../program/program.ts");

const strict = {
  target: "es2023",
  module: "nodenext",
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
};

export interface UserProject {
  folder: string;
  /** tsconfig of the program, and of a program without a line. */
  program: string;
  empty: string;
  /** Modules that import one tool, and everything. */
  importOne: string;
  importAll: string;
}

/**
 * Makes the project.
 * @param folder gets it; must not exist
 * @param release folder of one release's generated bindings
 * @throws Error when the bindings do not compile
 */
export function makeUserProject(folder: string, { folder: installed }: BuiltPackage, release: string): UserProject {
  const write = (file: string, text: string): string => {
    const full = path.join(folder, file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, text);
    return full;
  };
  write("package.json", JSON.stringify({ private: true, type: "module" }));
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(installed, path.join(folder, "node_modules/adbind"), "dir");
  cpSync(programFile, path.join(folder, "program/program.ts"));
  cpSync(release, path.join(folder, "program/release"), { recursive: true });
  const configure = (file: string, files: string[]): string =>
    write(file, JSON.stringify({ compilerOptions: { ...strict, noEmit: true }, files }));
  write("empty.ts", "export {};\n");
  compile(folder, path.join(folder, "program/release"));
  return {
    folder,
    program: configure("tsconfig.program.json", ["program/program.ts"]),
    empty: configure("tsconfig.empty.json", ["empty.ts"]),
    importOne: write("import-one.js", 'import "./compiled/tools/create-media-buy.js";\n'),
    importAll: write("import-all.js", 'import "./compiled/index.js";\n'),
  };
}

/** The bindings as JavaScript, under `compiled/`. */
function compile(folder: string, release: string): void {
  const config = path.join(folder, "tsconfig.compile.json");
  const compilerOptions = { ...strict, rootDir: release, outDir: "compiled" };
  writeFileSync(config, JSON.stringify({ compilerOptions, include: [release] }));
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", config], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`the bindings do not compile:\n${stdout.slice(0, 4000)}`);
}
