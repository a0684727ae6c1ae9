/** Each kind of page before axe, in three widths, light and dark. */
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startBrowser } from "../support/browser.js";
import { eventfulRelease, nextRelease, siteOf, writeSite } from "./fixture.js";
import { audit, tooWide, visit } from "./visit.js";

const pages = suite("explorer on three screens");

let browser: Browser | undefined;
let base: string;

pages.before(async () => {
  base = `${pathToFileURL(writeSite(await siteOf([eventfulRelease(), nextRelease()]))).href}/`;
  browser = await startBrowser();
});
pages.after(async () => {
  await browser?.close();
});

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
    await visit(
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
      { browser, base, viewport: { width, height: 800 }, colorScheme },
    );
  });

pages.run();
