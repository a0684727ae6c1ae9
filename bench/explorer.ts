/**
 * What a site of the largest release costs: to print, to open from the disk in Chromium, and to search for the first time.
 * Times in the browser are medians of fresh contexts, in turn with an empty page.
 */
import { existsSync, globSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { startBrowser } from "../test/support/browser.js";
import { type Command, measure, median } from "./support/measure.js";
import { buildPackage } from "./support/package.js";
import type { Row } from "./support/row.js";

const root = path.resolve(import.meta.dirname, "..");

/** Processes, and openings of the page, per figure. */
const RUNS = 3;
const OPENINGS = 7;

/** The largest release the corpus may have; without a corpus our own is measured. */
function largest(): string {
  const shared = path.resolve(root, process.env.ADBIND_CORPUS ?? "../shared", "releases/3.2.4");
  if (existsSync(shared)) return shared;
  console.error(`skipped: no release at ${shared}; measuring on manifests/`);
  return path.join(root, "manifests/3.1.0");
}

const megabytes = (bytes: number): number => bytes / 1e6;

const bytesOf = (files: Iterable<string>): number => [...files].reduce((sum, file) => sum + statSync(file).size, 0);

interface Opened {
  readonly ms: number;
  readonly bytes: number;
}

/** Opens a page in a context of its own; bytes are those of the files that it asked for until `ready` was so. */
async function opened(browser: Browser, url: string, ready: (page: Page) => Promise<unknown>): Promise<Opened> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const files = new Set<string>();
  page.on("request", (request) => {
    if (request.url().startsWith("file:")) files.add(fileURLToPath(request.url().replace(/[?#].*$/, "")));
  });
  const started = performance.now();
  await page.goto(url);
  await ready(page);
  const ms = performance.now() - started;
  await context.close();
  return { ms, bytes: bytesOf(files) };
}

async function browserRows(browser: Browser, site: string, scratch: string, name: string): Promise<Row[]> {
  const first = globSync("*/*/index.html", { cwd: site })[0]!;
  const url = pathToFileURL(path.join(site, first)).href;
  const empty = path.join(scratch, "empty.html");
  writeFileSync(empty, '<!doctype html><title>empty</title><link rel="icon" href="data:,"><p>empty');
  const [floors, uses, searches]: [Opened[], Opened[], Opened[]] = [[], [], []];
  const usable = (page: Page): Promise<unknown> => page.locator("#q[role=combobox]").waitFor();
  const searched = async (page: Page): Promise<unknown> => {
    await page.locator("#q[role=combobox]").fill("idempotency key");
    return page.locator("#hits li").first().waitFor();
  };
  for (let turn = 0; turn < OPENINGS; turn++) {
    floors.push(await opened(browser, pathToFileURL(empty).href, (page) => page.locator("p").waitFor()));
    uses.push(await opened(browser, url, usable));
    searches.push(await opened(browser, url, searched));
  }
  const ms = (list: readonly Opened[]): number => median(list.map((one) => one.ms));
  const floor = (list: readonly Opened[]) => ({ of: "an empty page from the disk", times: ms(list) / ms(floors) });
  const size = { none: "bytes, not time" };
  return [
    {
      name: `explorer of ${name}, time to first use`,
      ...{ value: ms(uses) / 1e3, unit: "s", target: { max: 1 }, floor: floor(uses) },
      note: `Chromium, from the disk; an empty page ${Math.round(ms(floors))} ms`,
    },
    {
      name: `explorer of ${name}, read until first use`,
      ...{ value: megabytes(uses[0]!.bytes), unit: "MB", target: { max: 2 }, floor: size },
    },
    {
      name: `explorer of ${name}, time to a first search`,
      ...{ value: ms(searches) / 1e3, unit: "s", floor: floor(searches) },
      note: "the page, then the index, then the first result",
    },
    {
      name: `explorer of ${name}, read until a first search`,
      ...{ value: megabytes(searches[0]!.bytes), unit: "MB", target: { max: 2 }, floor: size },
    },
  ];
}

/** Measures the explorer. */
export async function run(): Promise<Row[]> {
  const scratch = mkdtempSync(path.join(tmpdir(), "adbind-bench-"));
  try {
    const built = buildPackage(path.join(scratch, "package"));
    const release = largest();
    const name = path.basename(release);
    const site = path.join(scratch, "site");
    const ours: Command = {
      args: [built.cli, "explorer", release, "--compare", "none", "--out", site],
      prints: / written /,
      before: () => rmSync(site, { recursive: true, force: true }),
    };
    const floor: Command = { args: [built.floor, release, path.join(scratch, "floor.ts")] };
    const costs = await measure({ floor, ours }, RUNS);
    const files = globSync("**/*.*", { cwd: site }).map((file) => path.join(site, file));
    const rows: Row[] = [
      {
        name: `print the explorer of ${name}, times the floor`,
        ...{ value: costs.ours.ms / costs.floor.ms, unit: "x" },
        floor: { of: "parsing and compiling the schemas once", times: costs.ours.ms / costs.floor.ms },
        note: `${(costs.ours.ms / 1e3).toFixed(1)} s, processor ${(costs.ours.cpuMs / 1e3).toFixed(1)} s, peak ${Math.round(megabytes(costs.ours.peakBytes))} MB`,
      },
      {
        name: `explorer of ${name}, the whole site`,
        ...{ value: megabytes(bytesOf(files)), unit: "MB", floor: { none: "bytes, not time" } },
        note: `${files.length} files: pages, their JSON, a Markdown file a tool`,
      },
    ];
    const browser = await startBrowser();
    if (browser === undefined) return rows;
    try {
      return [...(await browserRows(browser, site, scratch, name)), ...rows];
    } finally {
      await browser.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
