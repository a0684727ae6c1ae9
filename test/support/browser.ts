/** A real browser for tests of pages; there need not be one, and who has none says so. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where Debian and the usual package managers put it. */
const executable = [
  process.env.CHROMIUM_PATH,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((file) => file !== undefined && existsSync(file));

/** @returns undefined, after a word about it, where there is none */
export async function startBrowser(): Promise<Browser | undefined> {
  if (executable === undefined) {
    console.log("skipped: no Chromium here; set CHROMIUM_PATH to one");
    return undefined;
  }
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  return chromium.launch({ executablePath: executable, args });
}
