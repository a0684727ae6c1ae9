/** What a project's README says to run before production, run: the files that its settings name are made by the commands beside them. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import * as assert from "uvu/assert";
import { register as keys } from "../../cli/keys.js";
import { register as outbox } from "../../cli/outbox.js";
import { runCommand } from "../cli/run-command.js";

const commands = { keys, outbox };

/** @returns the file that each setting is to name, by the setting's name */
export async function filesByReadme(project: string): Promise<Record<string, string>> {
  const before = process.env.ADBIND_CWD;
  process.env.ADBIND_CWD = project;
  const made: Record<string, string> = {};
  try {
    for (const line of readFileSync(path.join(project, "README.md"), "utf8").split("\n")) {
      const [, setting, printed] = /^\| (\w+) \|.*`npx adbind ([^`<]+)`/.exec(line) ?? [];
      if (setting === undefined) continue;
      const [command, ...args] = printed!.split(" ");
      const there = new Set(readdirSync(project));
      const { code, out, err } = await runCommand(commands[command as keyof typeof commands], args);
      assert.is(code, 0, `${printed}\n${out}${err}`);
      const [file, ...others] = readdirSync(project).filter((name) => !there.has(name));
      assert.equal([typeof file, others], ["string", []], printed);
      made[setting] = path.join(project, file!);
    }
  } finally {
    if (before === undefined) delete process.env.ADBIND_CWD;
    else process.env.ADBIND_CWD = before;
  }
  return made;
}
