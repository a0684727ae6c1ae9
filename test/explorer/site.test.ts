/** The site as files: what is in it, that it is the same each time, and that a release cannot speak in it but as text. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { loadReleases } from "../../cli/explorer/load.js";
import { planExplorer } from "../../cli/explorer/plan.js";
import { linkFrom, Places, segmentOf } from "../../generator/explorer/address.js";
import type { ChangeView } from "../../generator/explorer/compare.js";
import { codeMarkdown, markup, plainMarkdown, scriptText } from "../../generator/explorer/markup.js";
import type { Site } from "../../generator/explorer/site.js";
import type { CodeView, EventView, SchemaView, SpecialismView, ToolView } from "../../generator/explorer/views.js";
import { changedRelease } from "../support/release.js";
import { eventfulRelease, HARM, harmfulRelease, nextRelease, siteOf } from "./fixture.js";

const read = <T>(site: Site, file: string): T => JSON.parse(site.get(file)!()) as T;

const pair = await siteOf([eventfulRelease(), nextRelease()]);

test("every page has its data beside it, but the two that a script fills", () => {
  const pages = [...pair.keys()].filter((file) => file.endsWith(".html"));
  const alone = pages.filter((file) => !pair.has(file.replace(/html$/, "json")));
  assert.equal(alone, ["compare.html", "proto/1.2.3/search.html", "proto/1.3.0/search.html"]);
  for (const file of pair.keys()) if (file.endsWith(".json")) assert.not.throws(() => read(pair, file), file);
});

test("every link of every page leads to a file of the site, and to an anchor that is there", () => {
  const texts = new Map([...pair].filter(([file]) => file.endsWith(".html")).map(([file, print]) => [file, print()]));
  for (const [file, text] of texts)
    for (const [, link] of text.matchAll(/ (?:href|src|action)="([^"]*)"/g)) {
      if (link === "data:," || link!.startsWith("compare.html#")) continue;
      const [target, anchor] = link!.replaceAll("&amp;", "&").split("#");
      const to = target === "" ? file : path.posix.join(path.posix.dirname(file), target!);
      assert.ok(pair.has(to), `${file}: ${link}`);
      if (anchor === undefined || anchor === "main") continue;
      assert.ok(texts.get(to)?.includes(` id="${decodeURIComponent(anchor)}"`), `${file}: ${link}`);
    }
});

test("a tool has its request, arms, examples that are valid, and what it costs in a list", async () => {
  const view = read<ToolView>(pair, "proto/1.3.0/tools/place_order.json");
  assert.is(view.idempotency, "required");
  assert.equal(
    view.request.fields.rows.map(({ name, required }) => [name, required === true]),
    [
      ["idempotency_key", true],
      ["lines", true],
      ["note", false],
    ],
  );
  assert.equal(
    view.arms.map(({ status }) => status),
    ["submitted", "working", "completed", "failed", "canceled", "rejected"],
  );
  assert.ok(view.listing.bare < view.listing.described);
  const { releases } = await loadReleases([nextRelease()]);
  const bound = read<ToolView>(pair, "proto/1.3.0/tools/end_session.json");
  const whole = bound.arms.find(({ status }) => status === "completed")!;
  assert.equal("schema" in whole && whole.fields.rows.map(({ name, from }) => `${name} of ${from}`), [
    "product_id of core/line.json",
    "parts of core/line.json",
  ]);
  for (const message of [bound.request, view.request, ...view.arms.flatMap((arm) => ("schema" in arm ? [arm] : []))]) {
    assert.is(message.examples.length, 1, message.schema);
    assert.equal(releases[0]!.judge(message.schema, message.examples[0]!.value), []);
  }
});

test("an example of the release goes before one that is made, unless it is not valid", async () => {
  const right = { idempotency_key: "0123456789abcdef", lines: [{ product_id: "shown" }] };
  const site = await siteOf([
    changedRelease((files) => {
      files["media-buy/place-order-request.json"].examples = [{ lines: "wrong" }, right];
      files["media-buy/list-orders-response.json"].examples = [{ orders: "wrong" }];
    }),
  ]);
  const { request } = read<ToolView>(site, "proto/1.2.3/tools/place_order.json");
  assert.equal(request.examples, [{ value: right, from: "release" }]);
  const listing = read<ToolView>(site, "proto/1.2.3/tools/list_orders.json");
  const completed = listing.arms.find((arm) => "schema" in arm);
  assert.is("schema" in completed! && completed.examples[0]?.from, "made");
});

test("codes know who speaks of them, schemas who uses them, specialisms what they demand", () => {
  const code = read<CodeView>(pair, "proto/1.2.3/codes/NOT_FOUND.json");
  assert.equal([code.recovery, code.description], ["terminal", "It is not there. Nobody knows it."]);
  assert.equal(code.mentions.schemas, ["media-buy/order-webhook.json"]);
  const line = read<SchemaView>(pair, "proto/1.2.3/schemas/core/line.json");
  assert.equal(
    line.usedBy.map(({ path: file, pointer }) => `${file}#${pointer}`),
    [
      ...["line", "product_id"].map((name) => `media-buy/order-webhook.json#/properties/${name}`),
      "media-buy/place-order-request.json#/properties/lines/items",
    ],
  );
  const event = read<EventView>(pair, "proto/1.2.3/events/order.changed.json");
  assert.equal([event.discriminator, event.schema], ["notification_type", "media-buy/order-webhook.json"]);
  const selling = read<SpecialismView>(pair, "proto/1.2.3/specialisms/selling.json");
  assert.equal(
    selling.tools.map(({ name, why }) => `${name}: ${why}`),
    ["place_order: entry point", "list_orders: exercised"],
  );
  assert.equal(selling.harness, ["expect_webhook"]);
});

test("two releases side by side: the change, both sides, and the payload that shows it", () => {
  const { changes } = read<{ changes: ChangeView[] }>(pair, "compare/proto@1.2.3...proto@1.3.0.json");
  const demanded = changes.find(({ verdict, where }) => verdict === "broken" && where[0]?.side === "request")!;
  assert.equal(
    demanded.where.map(({ tool, side }) => `${tool} ${side}`),
    ["list_orders request"],
  );
  assert.is(demanded.witness?.kind, "payload");
  assert.match(demanded.b.page!, /^proto\/1\.3\.0\/schemas\/media-buy\/list-orders-request\.html$/);
  assert.ok(changes.some(({ rule, b }) => rule === "code-added" && b.page === "proto/1.3.0/codes/SOLD_OUT.html"));
});

test("the timeline says what each release brought, and llms.txt leads to a file a tool", () => {
  const [first, second] = read<{ version: string; tools: object; codes: object }[]>(pair, "timeline.json");
  assert.equal([first!.version, second!.version], ["1.2.3", "1.3.0"]);
  assert.equal(
    [second!.tools, second!.codes],
    [
      { added: ["cancel_order"], removed: [] },
      { added: ["SOLD_OUT"], removed: [] },
    ],
  );
  const named = [...pair.get("llms.txt")!().matchAll(/\]\((\S+\.md)\)/g)].map(([, file]) => file!);
  assert.is(named.length, 7);
  for (const file of named) assert.match(pair.get(file)!(), /^# `/, file);
});

test("nothing of a release is markup, a link or a script, in whatever it says it", async () => {
  const site = await siteOf([harmfulRelease()]);
  let told = 0;
  for (const [file, print] of site) {
    assert.match(file, /^[A-Za-z0-9._/@-]+$/);
    assert.not(file.split("/").includes(".."), file);
    if (!/\.(html|md|txt)$/.test(file)) continue;
    const text = print();
    // Code of Markdown is text, whatever is in it.
    const said = file.endsWith(".md")
      ? text.replace(/^````json\n[\s\S]*?\n````$/gm, "").replace(/(`+).*?\1/g, "")
      : text;
    assert.not.match(said, /<script>|<img/, file);
    if (!file.endsWith(".html")) assert.not.match(said, /[^\\]\]\(javascript/, file);
    assert.not.match(text, /\u202e/, file);
    if (text.includes("&lt;script&gt;") || text.includes("&lt;/script&gt;")) told++;
  }
  assert.ok(told > 8, `only ${told} files show it`);
  assert.not.match(site.get("proto/1.2.3/search-index.js")!(), /[<>]/);
});

test("what is put into a page is text: in markup, in Markdown, in scripts, in names of files", () => {
  assert.is(markup`<p>${HARM.slice(0, 9)}${undefined}${[1, false]}`.text, "<p>&lt;/script&gt;1");
  assert.is(plainMarkdown("# a\n[b](c) <d> `e` * f"), "\\# a \\[b\\](c) &lt;d&gt; \\`e\\` \\* f");
  assert.is(codeMarkdown("a``b"), "``` a``b ```");
  assert.is(scriptText("</script>\u2028"), '"\\u003c/script\\u003e\\u2028"');
  assert.is(segmentOf("create_media_buy"), "create_media_buy");
  for (const odd of ["..", "", "a/b", "con", "index", "<b>", "x".repeat(300)])
    assert.match(segmentOf(odd), /^[A-Za-z0-9._-]+-[0-9a-f]{8}$/, odd);
  const places = new Places();
  assert.is(places.place("a/b"), "a/b");
  assert.match(places.place("a/B"), /^a\/B-[0-9a-f]{8}$/);
  assert.is(linkFrom("p/1/tools/a", "p/2/index.html#x y"), "../../2/index.html#x%20y");
});

const own = await loadReleases([path.resolve(import.meta.dirname, "../../manifests/3.1.0")]);

test("every message of the release that comes with adbind has an example, and each is valid", () => {
  const { judge, atlas } = own.releases[0]!;
  const site = planExplorer(own.releases, { compare: "none" });
  for (const { name } of atlas.model.tools) {
    const { request, arms } = read<ToolView>(site, `proto/3.1.0/tools/${name}.json`);
    for (const { schema: ref, examples } of [request, ...arms.flatMap((arm) => ("schema" in arm ? [arm] : []))]) {
      assert.ok(examples.length > 0, ref);
      for (const { value } of examples) assert.equal(judge(ref, value), [], ref);
    }
  }
});

const golden = path.resolve(import.meta.dirname, "../golden/explorer");
const shown = [
  ...["index.json", "codes/index.json", "specialisms/index.json", "listing.json", "tools/get_products.html"],
  ...["tools/get_products.json", "tools/get_products.md", "codes/RATE_LIMITED.html", "schemas/core/error.html"],
];

test("the release that comes with adbind gives the same bytes, whatever the order it is printed in", () => {
  const { releases } = own;
  const [site, again] = [planExplorer(releases, { compare: "none" }), planExplorer(releases, { compare: "none" })];
  const wanted = ["llms.txt", "index.html", ...shown.map((file) => `proto/3.1.0/${file}`)];
  // In another order, so that nothing of one page depends on those printed before it.
  for (const file of [...wanted].reverse()) again.get(file)!();
  const files = `${[...site.keys()].sort().join("\n")}\n`;
  const texts = new Map([["files.txt", files], ...wanted.map((file): [string, string] => [file, site.get(file)!()])]);
  for (const file of wanted) assert.is(again.get(file)!(), texts.get(file), file);
  if (process.env.ADBIND_UPDATE_GOLDEN !== undefined) {
    rmSync(golden, { recursive: true, force: true });
    for (const [file, text] of texts) {
      mkdirSync(path.dirname(path.join(golden, file)), { recursive: true });
      writeFileSync(path.join(golden, file), text);
    }
  }
  for (const [file, text] of texts) {
    const held = path.join(golden, file);
    assert.ok(existsSync(held) && readFileSync(held, "utf8") === text, `${file} differs: ADBIND_UPDATE_GOLDEN=1`);
  }
});

test.run();
