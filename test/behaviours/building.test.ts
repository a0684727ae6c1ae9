/** Creatives that are built: from words, from others, from its library; and what they cost. */
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { writeCopy } from "../../runtime/behaviours/building/write.js";
import { fillLiteral, fillUrl } from "../../runtime/behaviours/previews/macros.js";
import { renderPage } from "../../runtime/behaviours/previews/render.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { behavingSeller, account as buyer, key, type TestSeller, versions } from "./behaving-seller.js";

/** One of them; which it is differs from run to run. */
const [version = "3.2.4"] = versions;
const account = () => ({ account: buyer });

const test = suite<{ own: TestSeller }>("creatives that are built");
test.before(async (context) => {
  context.own = await behavingSeller(version, ["creative_ad_server", "creative_generative"]);
});
test.after(({ own }) => own.close());

const format = (id: string) => ({ agent_url: "https://creative.example", id });

test("a value stays in its place in an address, whatever it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (value) => {
      const url = fillUrl("https://t.example/imp?sku={SKU}&cb={CACHEBUSTER}", { SKU: value });
      const encoded = url.slice("https://t.example/imp?sku=".length, -"&cb={CACHEBUSTER}".length);
      assert.match(encoded, /^(?:[A-Za-z0-9\-._~]|%[0-9A-F]{2})*$/);
      assert.is(decodeURIComponent(encoded), value.toWellFormed());
    }),
  );
  // The published cases of what must not come through.
  const encodeValue = (value: string): string => fillUrl("{SKU}", { SKU: value });
  assert.is(encodeValue("00013&cmd=drop"), "00013%26cmd%3Ddrop");
  assert.is(encodeValue("vacancy-{DEVICE_ID}-42"), "vacancy-%7BDEVICE_ID%7D-42");
  assert.is(encodeValue("café-amsterdam"), "caf%C3%A9-amsterdam");
  assert.is(encodeValue("abc\r\nHost: evil.example"), "abc%0D%0AHost%3A%20evil.example");
});

test("macros are filled in one pass, and unknown ones wait", () => {
  assert.is(fillLiteral("{A}{B}{A}", { A: "{B}", B: "b" }), "{B}b{B}");
  assert.is(fillLiteral("{A}{toString}{CONSTRUCTOR}", { A: "a" }), "a{toString}{CONSTRUCTOR}");
});

test("no text of a creative becomes markup", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const hostile = `<script>${text}</script>"><img onerror=x>`;
      const assets = {
        headline: { asset_type: "text", content: hostile },
        image: { asset_type: "image", url: `javascript:${hostile}`, alt_text: hostile },
        click_url: { asset_type: "url", url: `https://x.example/${hostile}` },
      };
      const page = renderPage({ format_id: format("x"), assets }, { size: { width: 10, height: 10 } });
      assert.not.match(page, /<script|<img onerror|javascript:/);
    }),
  );
});

test("copy follows the brief, and what it does not speak of stays", () => {
  const first = writeCopy("Create a banner for a summer gear sale. Headline should emphasize 40% off.");
  assert.equal(first, { headline: "Summer gear sale — 40% off", cta: "Learn more" });
  assert.equal(writeCopy("Add a CTA button that says 'Shop now'.", first), { ...first, cta: "Shop now" });
});

test("one brief makes a creative per format, with previews that are served", async ({ own }) => {
  const ids = ["display_300x250_generative", "display_728x90_generative"];
  const { creative_manifests: manifests, preview } = await own.ask("build_creative", {
    ...account(),
    ...key(),
    message: "A banner for a tent. Headline 'Sleep <outside>'",
    target_format_ids: ids.map(format),
    include_preview: true,
  });
  assert.equal(
    manifests.map(({ format_id }: { format_id: { id: string } }) => format_id.id),
    ids,
  );
  const [{ renders }] = preview.previews;
  const path = new URL(renders[0].preview_url).pathname;
  const served = await own.seller.app.inject(path);
  assert.is(served.statusCode, 200);
  assert.match(served.body, "Sleep &#60;outside&#62;");
  assert.match(String(served.headers["content-security-policy"]), "sandbox");
  const image = await own.seller.app.inject(new URL(manifests[0].assets.generated_image.url).pathname);
  assert.equal([image.statusCode, image.headers["content-type"]], [200, "image/svg+xml"]);
  assert.is((await own.seller.app.inject("/hosted/none")).statusCode, 404);
});

test("a creative about a catalogue keeps its macros, and previews fill them in", async ({ own }) => {
  await own.ask("sync_catalogs", {
    ...account(),
    ...key(),
    catalogs: [
      {
        catalog_id: "gear",
        type: "product",
        name: "Gear",
        items: [
          {
            item_id: "one",
            sku: "1&2",
            title: "Tent",
            url: "https://acme.example/tent",
            image_url: "https://acme.example/t.jpg",
          },
        ],
      },
    ],
  });
  const { creative_manifest: manifest, preview } = await own.ask("build_creative", {
    ...account(),
    ...key(),
    message: "A banner for the gear catalog",
    target_format_id: format("display_300x250_generative"),
    include_preview: true,
    preview_output_format: "html",
  });
  assert.match(manifest.assets.impression_tracker.url, "sku={SKU}");
  assert.match(preview.previews[0].renders[0].preview_html, "sku=1%262");
});

test("a creative is fitted into another format, and one that lacks something is not shown", async ({ own }) => {
  const manifest = {
    format_id: format("source_master"),
    assets: { image: { asset_type: "image", url: "https://cdn.example/a.jpg", width: 1200, height: 628 } },
  };
  const built = await own.ask("build_creative", {
    ...key(),
    creative_manifest: manifest,
    target_format_id: format("display_300x250"),
  });
  assert.is(built.creative_manifest.format_id.id, "display_300x250");
  assert.match(built.creative_manifest.assets.html.content, "https://cdn.example/a.jpg");
  const bare = { format_id: format("display_300x250"), assets: {} };
  const refused = await own.refused("preview_creative", { request_type: "single", creative_manifest: bare });
  assert.is(refused.code, "CREATIVE_REJECTED");
  const { results } = await own.ask("preview_creative", {
    request_type: "batch",
    requests: [
      { creative_manifest: { ...manifest, format_id: format("display_300x250") } },
      { creative_manifest: bare },
    ],
  });
  assert.equal(
    results.map(({ success }: { success: boolean }) => success),
    [true, false],
  );
  const unknown = await own.refused("build_creative", { ...key(), message: "x", target_format_id: format("none") });
  assert.is(unknown.field, "target_format_id");
  const vague = await own.refused("build_creative", { ...key(), message: "x" });
  assert.match(vague.code, /^(INVALID_REQUEST|VALIDATION_ERROR)$/);
});

test("the library's creatives get tags that load them, and use is billed at their rate", async ({ own }) => {
  await own.ask("comply_test_controller", {
    account: { ...account().account, sandbox: true },
    scenario: "seed_creative",
    params: {
      creative_id: "hero",
      fixture: {
        format_id: { id: "video_30s" },
        assets: { video: { asset_type: "video", url: "https://cdn.example/hero.mp4", width: 1920, height: 1080 } },
        pricing_options: [{ pricing_option_id: "cpm", pricing_model: "cpm", rate: 0.5, currency: "USD" }],
      },
    },
  });
  const built = await own.ask("build_creative", {
    ...account(),
    ...key(),
    creative_id: "hero",
    target_format_id: format("vast_30s"),
    media_buy_id: "mb_1",
  });
  assert.equal([built.pricing_option_id, built.vendor_cost], ["cpm", 0]);
  const tag: string = built.creative_manifest.assets.vast_tag.content;
  const address = /<!\[CDATA\[(.*?)\]\]>/.exec(tag)?.[1] ?? "";
  const served = await own.seller.app.inject(new URL(address).pathname);
  assert.match(served.body, "https://cdn.example/hero.mp4");
  const record = { ...account(), creative_id: "hero", pricing_option_id: "cpm", currency: "USD", media_buy_id: "mb_1" };
  const usage = await own.ask("report_usage", {
    ...key(),
    reporting_period: { start: "2026-03-01T00:00:00Z", end: "2026-03-31T00:00:00Z" },
    usage: [
      { ...record, impressions: 10_000, vendor_cost: 5 },
      { ...record, impressions: 10_000, vendor_cost: 50 },
      { ...record, creative_id: "none", impressions: 1, vendor_cost: 1 },
    ],
  });
  assert.is(usage.accepted, 1);
  assert.equal(
    usage.errors.map(({ field }: { field: string }) => field),
    ["usage[1].vendor_cost", "usage[2].creative_id"],
  );
  const delivery = await own.ask("get_creative_delivery", { ...account(), media_buy_ids: ["mb_1"] });
  assert.equal(delivery.creatives[0].totals, { impressions: 10_000, spend: 5 });
  const again = await own.ask("preview_creative", {
    ...account(),
    request_type: "variant",
    variant_id: delivery.creatives[0].variants[0].variant_id,
  });
  assert.is(again.creative_id, "hero");
});

for (const purge_kind of ["soft", "hard"])
  test(`tags of a creative that a ${purge_kind} purge destroyed load nothing, and others go on`, async ({ own }) => {
    const command = (scenario: string, params: object) =>
      own.ask("comply_test_controller", { account: { ...account().account, sandbox: true }, scenario, params });
    const [gone, stays] = [`gone_${purge_kind}`, `stays_${purge_kind}`];
    const loads: string[] = [];
    for (const creative_id of [gone, stays]) {
      const assets = { video: { asset_type: "video", url: `https://cdn.example/${creative_id}.mp4` } };
      await command("seed_creative", { creative_id, fixture: { format_id: { id: "video_30s" }, assets, tags: ["x"] } });
      const request = { ...account(), ...key(), creative_id, target_format_id: format("vast_30s") };
      const { creative_manifest: manifest } = await own.ask("build_creative", request);
      loads.push(/<!\[CDATA\[(.*?)\]\]>/.exec(manifest.assets.vast_tag.content)?.[1] ?? "");
    }
    await command("force_creative_purge", { creative_id: gone, purge_kind });
    const served = await Promise.all(loads.map((url) => own.seller.app.inject(new URL(url).pathname)));
    assert.equal(
      served.map(({ statusCode }) => statusCode),
      [404, 200],
    );
    const left = await own.onBehalf("buyer", async ({ documents, principal }) => documents.list("creative", principal));
    const tombstone = (left as JsonObject[]).find(({ creative_id }) => creative_id === gone);
    assert.is(tombstone?.tags, undefined, "words of the buyer's go with it");
  });

if (versions.length > 0) test.run();
