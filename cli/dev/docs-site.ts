/**
 * Development only, as `./run docs [RELEASE...]`: the explorer as our documentation has it, in `site/`. Of the releases that
 * are named, else of the corpus's, else of those that come with adbind; each compared with the next, all with `--all`.
 * A named one that cannot be had is passed over, and told.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
const corpus = path.resolve(root, process.env.ADBIND_CORPUS ?? "../shared", "releases");

/** Longest that a release may take to be fetched and read, in milliseconds. */
const FETCH_LIMIT_MS = 300_000;

const adbind = (args: readonly string[], output: "inherit" | "ignore", timeout?: number): number =>
  spawnSync(process.execPath, [...process.execArgv, path.join(root, "cli/main.ts"), ...args], {
    cwd: root,
    stdio: ["inherit", output, "inherit"],
    env: { ...process.env, ADBIND_CWD: root },
    ...(timeout !== undefined && { timeout }),
  }).status ?? 1;

const named = process.argv.slice(2).filter((word) => word !== "--all");
const given = named.filter((release) => {
  const there = adbind(["releases", "show", release], "ignore", FETCH_LIMIT_MS) === 0;
  if (!there) console.error(`skipped: ${release} cannot be had`);
  return there;
});
const releases = given.length > 0 ? given : [existsSync(corpus) ? corpus : path.join(root, "manifests")];
const compare = process.argv.includes("--all") ? "all" : "neighbours";

process.exitCode = adbind(["explorer", ...releases, "--compare", compare, "--out", path.join(root, "site")], "inherit");
