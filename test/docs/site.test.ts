/** The docs site: every page is in its navigation, and links of a built site are followed. */
import { globSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { deadLinks } from "../../cli/dev/docs-site/links.js";
import { read, root } from "./pages.js";

test("every page that is written by hand is in the site's navigation", () => {
  const config = read("docs/.vitepress/config.ts");
  const pages = [
    ...globSync("*.md", { cwd: path.join(root, "docs") }),
    ...globSync("protocol/*.md", { cwd: path.join(root, "docs") }),
  ];
  const absent = pages
    .map((page) => page.replace(/\.md$/, "").replace(/(^|\/)index$/, "$1"))
    .filter((page) => !config.includes(`"${page}")`));
  assert.ok(pages.length > 20);
  assert.equal(absent, []);
});

test("a link of a built site that leads nowhere is found, and no other", () => {
  const pages = new Map([
    [
      "index.html",
      '<a href="/docs/a.html#one">x</a><a href="https://elsewhere.example/b">x</a><a href="/docs/file.png">x</a>',
    ],
    ["a.html", '<h2 id="one"></h2><a href="#two">x</a><a class="c" href="/docs/b.html">x</a><a href="/docs/">x</a>'],
  ]);
  const facts = { base: "/docs/", others: (file: string) => file === "file.png" };
  assert.equal(deadLinks(pages, facts), ["a.html: #two", "a.html: /docs/b.html"]);
});

test.run();
