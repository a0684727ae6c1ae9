/**
 * Development only, as `./run docs [RELEASE...]`: the explorer as our documentation has it, in `site/`. Of the releases that
 * are named, else of the corpus's, else of those that come with adbind; each compared with the next, all with `--all`.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
const corpus = path.resolve(root, process.env.ADBIND_CORPUS ?? "../shared", "releases");

const given = process.argv.slice(2).filter((word) => word !== "--all");
const releases = given.length > 0 ? given : [existsSync(corpus) ? corpus : path.join(root, "manifests")];
const compare = process.argv.includes("--all") ? "all" : "neighbours";
const out = path.join(root, "site");

const { status } = spawnSync(
  process.execPath,
  [...process.execArgv, path.join(root, "cli/main.ts"), "explorer", ...releases, "--compare", compare, "--out", out],
  { cwd: root, stdio: "inherit", env: { ...process.env, ADBIND_CWD: root } },
);
process.exitCode = status ?? 1;
