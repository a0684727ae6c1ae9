/** A command that judges something, run as a user does; what it says last is held to. */
import { spawn } from "node:child_process";
import path from "node:path";
import * as assert from "uvu/assert";
import { fromSource } from "../runner/from-source.js";

const root = path.resolve(import.meta.dirname, "../..");

export interface Closed {
  readonly unit: string;
  readonly passed: number;
  readonly failed: number;
}

/** @returns what the last line of an output counts; undefined where it counts nothing */
export function closed(output: string): Closed | undefined {
  const line = output.endsWith("\n") ? output.slice(0, -1).split("\n").at(-1)! : "";
  const found = /^(\w+): (\d+) passed, (\d+) failed(?:, \d+ [a-z ]+)*$/.exec(line);
  return found === null ? undefined : { unit: found[1]!, passed: Number(found[2]), failed: Number(found[3]) };
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly all: string;
}

/** Runs a file of the sources to its end. */
export function runScript(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...fromSource, ...args], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, all] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
      all += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => (all += chunk));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, all }));
  });
}

/**
 * Runs a judge that must pass.
 * @param args its file and what follows it
 * @param want unit, and how many of them pass; any number but none without one
 * @returns what it wrote to stdout
 */
export async function judged(
  args: readonly string[],
  want: { readonly unit: string; readonly passed?: number },
): Promise<string> {
  const { code, stdout, all } = await runScript(args);
  const line = closed(stdout);
  assert.ok(line !== undefined, `the last line counts nothing:\n${all}`);
  assert.equal([code, line.unit, line.failed], [0, want.unit, 0], all);
  if (want.passed === undefined) assert.ok(line.passed > 0, all);
  else assert.is(line.passed, want.passed, all);
  return stdout;
}
