/** `./run env`, here and on a clean clone: what it prints can be evaluated, and everything works in that shell. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, symlinkSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cellsOf, choice } from "./support/cells.js";
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
  linkPeers(folder);
  return folder;
}

/** What tests compare with, each with a lockfile of its own: the same lines of `run` install any of them. */
const peers = globSync("test/interop/*/package-lock.json", { cwd: root }).map(path.dirname).sort();
/** Of one commit's run: this one is asked for below, and another. */
const [ASKED, FURTHER] = ["test/interop/peer", 1];

/** Has a clone use what this checkout has installed of most peers: all of them take as long as everything else. */
function linkPeers(folder: string): void {
  const others = peers.filter((peer) => peer !== ASKED && existsSync(path.join(root, peer, "node_modules")));
  const anew = cellsOf("ADBIND_CELLS=all ./run test test/env.test.ts", others, FURTHER);
  for (const peer of others)
    if (!anew.includes(peer))
      symlinkSync(path.join(root, peer, "node_modules"), path.join(folder, peer, "node_modules"));
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
    `test -d ${ASKED}/node_modules`,
  ];
  const ran = bash(["set -x", 'eval "$(./run env)"', ...commands].join("\n"));
  assert.is(ran.status, 0, ran.stdout + ran.stderr);
}

test("a shell that evaluates it runs the tools, the sources and a test", () => works(root));

// Whoever runs all of this in a clean clone has proved it: a run of all cells need not be in one.
if (choice() === "all")
  test("so does one in a clean clone", () => {
    if (existsSync(path.join(root, ".git"))) works(clone());
    else console.log("skipped: no git checkout to clone");
  });

test.run();
