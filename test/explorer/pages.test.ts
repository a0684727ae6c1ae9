/** The site in a real browser, opened from the disk, as a reader uses it: by keyboard, search, comparison, theme. */
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startBrowser } from "../support/browser.js";
import { eventfulRelease, harmfulRelease, nextRelease, siteOf, writeSite } from "./fixture.js";
import { audit, visit } from "./visit.js";

const pages = suite("explorer in a browser");

let browser: Browser | undefined;
let base: string;

pages.before(async () => {
  base = `${pathToFileURL(writeSite(await siteOf([eventfulRelease(), nextRelease()]))).href}/`;
  browser = await startBrowser();
});
pages.after(async () => {
  await browser?.close();
});

const open = (file: string, run: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> =>
  visit(file, run, { browser, base, ...options });

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
  await visit(
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
    { browser, base: from },
  );
});

pages.run();
