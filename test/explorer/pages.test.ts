/** The site in a real browser, opened from the disk: by keyboard, in three widths, light and dark. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startBrowser } from "../support/browser.js";
import { eventfulRelease, harmfulRelease, nextRelease, siteOf, writeSite } from "./fixture.js";

const pages = suite("explorer in a browser");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser: Browser | undefined;
let base: string;

pages.before(async () => {
  base = `${pathToFileURL(writeSite(await siteOf([eventfulRelease(), nextRelease()]))).href}/`;
  browser = await startBrowser();
});
pages.after(async () => {
  await browser?.close();
});

/** Opens a page in a context of its own; what was refused, failed or loaded from elsewhere fails it. */
async function open(
  file: string,
  run: (page: Page) => Promise<void>,
  options: BrowserContextOptions & { from?: string } = {},
): Promise<void> {
  if (browser === undefined) return;
  const { from = base, ...rest } = options;
  const context = await browser.newContext(rest);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => void faults.push(error.message));
  page.on("requestfailed", (request) => void faults.push(`${request.url()} failed`));
  page.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
  page.on("request", (request) => {
    if (!request.url().startsWith(from) && !request.url().startsWith("data:")) faults.push(request.url());
  });
  try {
    await page.goto(from + file);
    await run(page);
    assert.equal(faults, [], "something was refused by the policy, or loaded from elsewhere");
  } finally {
    await context.close();
  }
}

interface Audit {
  readonly violations: { readonly id: string; readonly nodes: { readonly html: string }[] }[];
}

const tooWide = async (page: Page): Promise<string[]> =>
  (await page.evaluate("document.documentElement.scrollWidth > innerWidth"))
    ? [`${page.url()} is wider than the screen`]
    : [];

/** What axe finds wrong, and whether the page is wider than the screen. */
async function audit(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = (await page.evaluate("axe.run(document, { preload: false })")) as Audit;
  return [...violations.map(({ id, nodes }) => `${page.url()} ${id}: ${nodes[0]!.html}`), ...(await tooWide(page))];
}

const kinds = [
  ...["index", "timeline", "compare", "proto/1.3.0/index", "proto/1.3.0/listing", "proto/1.3.0/search"],
  ...["tools/place_order", "codes/index", "codes/BUSY", "events/index", "events/order.changed"].map(
    (page) => `proto/1.3.0/${page}`,
  ),
  ...["specialisms/index", "specialisms/selling", "schemas/index", "schemas/core/line"].map(
    (page) => `proto/1.3.0/${page}`,
  ),
];

const screens = [
  { width: 320, colorScheme: "light" },
  { width: 768, colorScheme: "dark" },
  { width: 1280, colorScheme: "light" },
] as const;

for (const [turn, { width, colorScheme }] of screens.entries())
  pages(`nothing is wrong by axe, and nothing too wide, at ${width} px and ${colorScheme}`, async () => {
    // Each kind of page before axe once, in one of the screens; none is wider than the narrowest.
    const judged = kinds.filter((_, index) => index % screens.length === turn);
    await open(
      "index.html",
      async (page) => {
        const found: string[] = [];
        for (const file of width === 320 ? kinds : judged) {
          await page.goto(`${base}${file}.html`);
          if (file === "compare") await page.waitForSelector("article");
          found.push(...(judged.includes(file) ? await audit(page) : await tooWide(page)));
        }
        assert.equal(found, []);
      },
      { viewport: { width, height: 800 }, colorScheme },
    );
  });

pages("by keyboard: search for a field, choose with the arrows, land where it is", async () => {
  await open("proto/1.3.0/index.html", async (page) => {
    await page.keyboard.press("Tab");
    assert.is(await page.locator(":focus").textContent(), "Skip to the content");
    await page.keyboard.press("/");
    await page.keyboard.type("acount");
    await page.waitForSelector("#hits li");
    assert.match((await page.locator("#hits li").first().textContent()) ?? "", /tool list_orders/);
    assert.equal(await audit(page), []);
    await page.keyboard.press("ArrowDown");
    assert.is(await page.locator("#q").getAttribute("aria-activedescendant"), "hit-0");
    await page.keyboard.press("Enter");
    await page.waitForURL(/tools\/list_orders\.html\?q=acount$/);
    await page.goto(`${base}proto/1.3.0/tools/list_orders.html?q=whose+orders`);
    assert.is(await page.locator("tr.found").getAttribute("id"), "request.account_id");
  });
});

pages("a search page of its own, for a word that stands in a description alone", async () => {
  await open("proto/1.2.3/search.html?q=days", async (page) => {
    await page.waitForSelector("#results li");
    assert.match((await page.locator("#results li").first().textContent()) ?? "", "place_order");
    await page.fill("#q", "zzzyx");
    await page.getByText("0 found for").waitFor();
  });
});

pages("from a tool to its schema, to who uses it, to the same page of another release", async () => {
  await open("proto/1.3.0/tools/place_order.html", async (page) => {
    await page.getByRole("link", { name: "line", exact: true }).first().click();
    assert.is(await page.locator("h1").textContent(), "Line");
    await page.getByRole("link", { name: "media-buy/order-webhook.json" }).click();
    await page.locator("details.releases summary").press("Enter");
    await page.getByRole("link", { name: "proto 1.2.3" }).click();
    await page.waitForURL(/proto\/1\.2\.3\/schemas\/media-buy\/order-webhook\.html$/);
    await page.goto(`${base}proto/1.3.0/tools/place_order.html#request.lines`);
    const shown = await page.evaluate("document.querySelector('tr:target th a').textContent");
    assert.is(shown, "lines");
  });
});

pages("two releases are compared in the page: sides, filters, the proof, a link to it", async () => {
  await open("compare.html#proto@1.2.3...proto@1.3.0", async (page) => {
    await page.waitForSelector("article");
    const all = await page.locator("article").count();
    await page.getByLabel("Verdict").selectOption("broken");
    await page.getByLabel("Tool or text").fill("account_id");
    const left = await page.locator("article").count();
    assert.ok(left > 0 && left < all, `${left} of ${all}`);
    const broken = page.locator("article", { hasText: "list_orders request" }).first();
    await broken.locator(".proof summary").press("Enter");
    assert.match((await broken.locator("pre").textContent()) ?? "", /^\{/);
    assert.equal(await audit(page), []);
    // The other way round is the same comparison.
    await page.getByLabel("Older").selectOption("proto@1.3.0");
    await page.getByLabel("Newer").selectOption("proto@1.2.3");
    await page.waitForSelector("article");
    await page.getByLabel("Older").selectOption("proto@1.2.3");
    await page.getByText("Choose two releases.").waitFor();
  });
});

pages("the theme is the system's until the reader chooses, and stays", async () => {
  await open(
    "index.html",
    async (page) => {
      const back = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
      const dark = await back();
      await page.getByRole("button", { name: "Use the light theme" }).press("Enter");
      const light = await back();
      assert.is.not(light, dark);
      await page.goto(`${base}timeline.html`);
      assert.is(await back(), light);
    },
    { colorScheme: "dark" },
  );
});

pages("without scripts everything is there but the search and the comparison", async () => {
  await open(
    "proto/1.3.0/index.html",
    async (page) => {
      await page.getByRole("link", { name: "place_order" }).click();
      assert.match((await page.locator("table.fields").first().textContent()) ?? "", "idempotency_key");
    },
    { javaScriptEnabled: false },
  );
});

pages("a release that means harm is shown, and does none", async () => {
  const from = `${pathToFileURL(writeSite(await siteOf([harmfulRelease()]))).href}/`;
  await open(
    "index.html",
    async (page) => {
      for (const file of ["index", "tools/place_order", "codes/NOT_FOUND", "events/index", "schemas/index", "search"]) {
        await page.goto(`${from}proto/1.2.3/${file}.html`);
        if (file === "search") {
          await page.fill("#q", "harmed");
          await page.waitForSelector("#results li");
        }
        assert.is(await page.evaluate("globalThis.harmed"), undefined, file);
        assert.is(await page.locator("img").count(), 0, file);
      }
    },
    { from },
  );
});

pages.run();
