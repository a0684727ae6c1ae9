/** `./run env`, here and on a clean clone: what it prints can be evaluated, and everything works in that shell. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { provesSetup } from "./support/judges.js";
import { tempFolder } from "./support/release.js";

const root = path.resolve(import.meta.dirname, "..");

/** This tree as it is committed, with the changes that are not yet. */
function clone(): string {
  const folder = path.join(tempFolder(), "clone");
  execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${root}`, folder]);
  const listed = ["ls-files", "--modified", "--others", "--exclude-standard", "-z"];
  const changed = execFileSync("git", listed, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  for (const file of changed)
    if (existsSync(path.join(root, file))) cpSync(path.join(root, file), path.join(folder, file));
  return folder;
}

/** Everything works in a shell that evaluates what the checkout in this folder prints. */
function works(folder: string): void {
  // As a user's shell has it: no folder of this checkout is on the PATH.
  const PATH = process.env
    .PATH!.split(":")
    .filter((one) => !one.startsWith(root))
    .join(":");
  const bash = (script: string) =>
    spawnSync("bash", ["-eu", "-c", script], { cwd: folder, env: { ...process.env, PATH }, encoding: "utf8" });
  const printed = bash("./run env");
  assert.is(printed.status, 0, printed.stderr);
  assert.match(printed.stdout, /^export PATH=\S+\n$/);
  const source = "node --import tsx --conditions=adbind-source";
  const commands = [
    "tsc --version",
    "biome --version",
    `${source} cli/main.ts --version`,
    `${source} test/bench/report.test.ts`,
    "test -d test/interop/peer/node_modules",
  ];
  const ran = bash(["set -x", 'eval "$(./run env)"', ...commands].join("\n"));
  assert.is(ran.status, 0, ran.stdout + ran.stderr);
}

test("a shell that evaluates it runs the tools, the sources and a test", () => works(root));

if (provesSetup("a clean clone"))
  test("so does one in a clean clone", () => {
    if (existsSync(path.join(root, ".git"))) works(clone());
    else console.log("skipped: no git checkout to clone");
  });

test.run();
