/** After an upgrade a project is asked whether it still holds: its own compiler, its own tests. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** 10 minutes: a test that waits for ever must not keep the command. */
const DEADLINE_MS = 10 * 60 * 1000;
/** 2 MB of output: what comes after tells nothing new. */
const MOST_OUTPUT = 2_000_000;

export interface TypeFault {
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly message: string;
}

export interface ProjectProof {
  /** `none` where the project has no such thing. */
  readonly types: "passed" | "failed" | "none";
  readonly faults: readonly TypeFault[];
  readonly tests: "passed" | "failed" | "none";
  /** The last of what the tests said, where they failed. */
  readonly output: string;
}

interface Ended {
  readonly code: number;
  readonly output: string;
}

function run(command: string, argv: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(command, [...argv], { cwd, timeout: DEADLINE_MS, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const take = (chunk: Buffer): void => {
      if (output.length < MOST_OUTPUT) output += chunk.toString("utf8");
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", (error) => resolve({ code: 1, output: error.message }));
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

/** A program of the project's packages, looked for as npm does: here, then upwards. */
function binary(folder: string, name: string): string | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    const file = path.join(at, "node_modules/.bin", name);
    if (existsSync(file)) return file;
    if (at === path.dirname(at)) return undefined;
  }
}

const FAULT = /^(?<file>[^\s(][^(\n]*)\((?<line>\d+),\d+\): error (?<code>TS\d+): (?<message>.*)$/gm;

export const typeFaults = (output: string): TypeFault[] =>
  [...output.matchAll(FAULT)].map(({ groups }) => ({
    file: groups!.file!,
    line: Number(groups!.line),
    code: groups!.code!,
    message: groups!.message!,
  }));

function testScript(folder: string): boolean {
  const file = path.join(folder, "package.json");
  if (!existsSync(file)) return false;
  const { scripts = {} } = JSON.parse(readFileSync(file, "utf8")) as { scripts?: Record<string, string> };
  return scripts.test !== undefined;
}

const TAIL = 4000;

export async function proveProject(folder: string): Promise<ProjectProof> {
  const tsc = existsSync(path.join(folder, "tsconfig.json")) ? binary(folder, "tsc") : undefined;
  const types = tsc === undefined ? undefined : await run(tsc, ["--noEmit", "--pretty", "false", "-p", "."], folder);
  const tests = testScript(folder) ? await run("npm", ["test", "--silent"], folder) : undefined;
  const said = (ended: Ended | undefined): ProjectProof["types"] =>
    ended === undefined ? "none" : ended.code === 0 ? "passed" : "failed";
  return {
    types: said(types),
    faults: types === undefined ? [] : typeFaults(types.output),
    tests: said(tests),
    output: tests === undefined || tests.code === 0 ? "" : tests.output.slice(-TAIL),
  };
}
