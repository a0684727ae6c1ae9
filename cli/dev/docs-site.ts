/**
 * Development only, as `./run docs [RELEASE...]`: the documentation in `site/`, every link of it followed, and in `site/explorer/`
 * the explorer of the releases that are named, else of the corpus's, else of those that come with adbind; each compared with
 * the next, all with `--all`. A named one that cannot be had is passed over, and told. `--pages` leaves the explorer out.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { deadLinks } from "./docs-site/links.js";

const root = path.resolve(import.meta.dirname, "../..");
const site = path.join(root, "site");
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

/** @returns what is wrong, as lines */
function buildPages(base: string, withExplorer: boolean): string[] {
  const docs = path.join(root, "docs");
  const vitepress = path.join(docs, ".vitepress/node_modules/.bin/vitepress");
  const { status, stdout, stderr } = spawnSync(vitepress, ["build", docs], {
    encoding: "utf8",
    env: { ...process.env, DOCS_BASE: base, DOCS_EXPLORER: withExplorer ? "yes" : "no" },
  });
  // A page that could not be rendered is told, and ends no build of its own.
  const failed = `${stdout}${stderr}`.split("\n").filter((line) => /error|dead link/i.test(line));
  if (status !== 0 || failed.length > 0) return failed.length > 0 ? failed : [`vitepress ended with ${status}`];
  const pages = globSync("**/*.html", { cwd: site, exclude: (name) => name === "explorer" });
  const texts = new Map(pages.map((page) => [page, readFileSync(path.join(site, page), "utf8")]));
  const wrong = deadLinks(texts, {
    base,
    others: (file) => file.startsWith("explorer/") || existsSync(path.join(site, file)),
  });
  console.error(`site: ${pages.length} pages, ${wrong.length} dead links`);
  // Pages load scripts from the root of a host: as files they would have no styles.
  console.error(`read them: ${path.relative(root, vitepress)} preview docs`);
  return wrong;
}

function buildExplorer(words: readonly string[]): number {
  const named = words.filter((word) => !word.startsWith("--"));
  const given = named.filter((release) => {
    const there = adbind(["releases", "show", release], "ignore", FETCH_LIMIT_MS) === 0;
    if (!there) console.error(`skipped: ${release} cannot be had`);
    return there;
  });
  const releases = given.length > 0 ? given : [existsSync(corpus) ? corpus : path.join(root, "manifests")];
  const compare = words.includes("--all") ? "all" : "neighbours";
  return adbind(["explorer", ...releases, "--compare", compare, "--out", path.join(site, "explorer")], "inherit");
}

const words = process.argv.slice(2);
const withExplorer = !words.includes("--pages");
const wrong = buildPages(process.env.DOCS_BASE ?? "/", withExplorer);
for (const line of wrong) console.error(line);
process.exitCode = wrong.length > 0 ? 1 : withExplorer ? buildExplorer(words) : 0;
