/** Runs a command in this process, as `cli/main.ts` would, with what it prints and its exit code. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Command, CommanderError } from "commander";
import { reportFailure } from "../../cli/failure.js";

export interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** A folder that relative paths of commands start from. */
export function commandFolder(): { folder: string; at: (name: string) => string; remove: () => void } {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-cli-"));
  process.env.ADBIND_CWD = folder;
  return { folder, at: (name) => path.join(folder, name), remove: () => rmSync(folder, { recursive: true }) };
}

export async function runCommand(register: (command: Command) => void, argv: readonly string[]): Promise<Ran> {
  const printed = { out: "", err: "" };
  const { log, error } = console;
  console.log = (line: unknown) => {
    printed.out += `${line}\n`;
  };
  console.error = (line: unknown) => {
    printed.err += `${line}\n`;
  };
  const command = new Command("test").exitOverride();
  register(command);
  for (const each of command.commands) {
    each.exitOverride().configureOutput({ writeOut: console.log, writeErr: console.error });
  }
  try {
    await command.parseAsync([...argv], { from: "user" });
    return { ...printed, code: Number(process.exitCode ?? 0) };
  } catch (failure) {
    // Commander has said it already.
    if (failure instanceof CommanderError) return { ...printed, code: failure.exitCode === 0 ? 0 : 2 };
    reportFailure(failure, argv.includes("--json"));
    return { ...printed, code: Number(process.exitCode ?? 0) };
  } finally {
    console.log = log;
    console.error = error;
    process.exitCode = 0;
  }
}
