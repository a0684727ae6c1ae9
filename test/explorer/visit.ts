/** Pages of the explorer's site in a browser, and what is wrong with them. */
import axeCore from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import * as assert from "uvu/assert";

export interface Visit extends BrowserContextOptions {
  readonly browser: Browser | undefined;
  /** The site's address, with a `/` at the end: a page that loads from elsewhere fails. */
  readonly base: string;
}

/** Opens a page in a context of its own; what was refused, failed or loaded from elsewhere fails it. */
export async function visit(
  file: string,
  run: (page: Page) => Promise<void>,
  { browser, base, ...rest }: Visit,
): Promise<void> {
  if (browser === undefined) return;
  const context = await browser.newContext(rest);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => void faults.push(error.message));
  page.on("requestfailed", (request) => void faults.push(`${request.url()} failed`));
  page.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
  page.on("request", (request) => {
    if (!request.url().startsWith(base) && !request.url().startsWith("data:")) faults.push(request.url());
  });
  try {
    await page.goto(base + file);
    await run(page);
    assert.equal(faults, [], "something was refused by the policy, or loaded from elsewhere");
  } finally {
    await context.close();
  }
}

interface Audit {
  readonly violations: { readonly id: string; readonly nodes: { readonly html: string }[] }[];
}

export const tooWide = async (page: Page): Promise<string[]> =>
  (await page.evaluate("document.documentElement.scrollWidth > innerWidth"))
    ? [`${page.url()} is wider than the screen`]
    : [];

/** What axe finds wrong, and whether the page is wider than the screen. */
export async function audit(page: Page): Promise<string[]> {
  await page.evaluate(axeCore.source);
  const { violations } = (await page.evaluate("axe.run(document, { preload: false })")) as Audit;
  return [...violations.map(({ id, nodes }) => `${page.url()} ${id}: ${nodes[0]!.html}`), ...(await tooWide(page))];
}
