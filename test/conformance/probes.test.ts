/** What the runner itself looks at beside answers: previews of substituted values, and refusals for a caller's rate. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { atMacro, trackerUrls } from "../../runtime/conformance/probes/tracker-urls.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { names, runSmall, suiteOf } from "./small-agent.js";

test("URLs are taken from the listed attributes alone, as they were written", () => {
  const html = `<!-- <img src="https://no.example/1"> --><script>var a = '<img src="https://no.example/2">'</script>
    <a data-href="https://no.example/3" HREF='https://a.example/?x=1&amp;y=&#x7B;'>x</a>
    <img alt="a > b" srcset="https://b.example/1 1x, https://b.example/2 2x">
    <meta http-equiv=refresh content="0; url=https://c.example/"><div data-click-url=https://d.example/></div>`;
  assert.equal(trackerUrls(html), [
    "https://a.example/?x=1&y={",
    "https://b.example/1",
    "https://b.example/2",
    "https://c.example/",
    "https://d.example/",
  ]);
});

test("a macro's value is found by its key and place, never by searching", () => {
  const template = "https://t.example/{SKU}/ping?sku=a-{SKU}&sku={SKU}";
  assert.equal(atMacro(template, "{SKU}", "https://t.example/x%2Fy/ping?other=1&sku=a-1&sku=2"), ["x%2Fy", "1", "2"]);
  assert.equal(atMacro(template, "{SKU}", "https://other.example/x/ping?sku=a-1&sku=2"), []);
  assert.equal(atMacro("https://t.example/?s={SKU}", "{SKU}", "https://t.example/?s=caf\u00e9\r\n"), ["caf\u00e9\r\n"]);
});

const items = [
  { item_id: "breakout", sku: "00013&cmd=drop" },
  { item_id: "nested", sku: "vacancy-{DEVICE_ID}-42" },
  { item_id: "accent", sku: "cafe\u0301 (1)" },
];

const preview = `
id: own
phases:
  - id: p
    steps:
      - {id: sync, task: sync_catalogs, sample_request: {catalogs: [{items: ${JSON.stringify(items)}}]}}
      - {id: build, task: build_creative}
      - id: safe
        task: expect_substitution_safe
        requires_contract: substitution_observer_runner
        source_path: /creative_manifest/preview_html
        macro_template: "https://t.example/imp?sku={SKU}"
        catalog_bindings:
          - {macro: "{SKU}", catalog_item_id: breakout, vector_name: reserved-character-breakout}
          - {macro: "{SKU}", catalog_item_id: nested, vector_name: nested-expansion-preserved-as-literal}
          - {macro: "{SKU}", catalog_item_id: accent, vector_name: nfc-normalization-before-encoding}
`;

const encoded = (text: string): string =>
  encodeURIComponent(text.normalize("NFC")).replace(/[()]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);

const previewOf = (values: readonly string[]): JsonObject => ({
  creative_manifest: {
    preview_html: values.map((value) => `<img src="https://t.example/imp?sku=${value}">`).join(""),
  },
});

const judgedPreview = async (values: readonly string[], file?: JsonObject) => {
  const files = file === undefined ? {} : { "test-vectors/catalog-macro-substitution.json": JSON.stringify(file) };
  const tools = { sync_catalogs: () => ({ catalogs: [] }), build_creative: () => previewOf(values) };
  const { steps } = await runSmall(suiteOf(preview, files), tools);
  const { status, checks, problem } = steps.get("safe")!;
  const bad = checks.filter(({ outcome }) => outcome === "failed").map(({ note }) => String(note).split(/[:]/)[0]);
  return [status, ...bad, ...(problem === undefined ? [] : [problem.split(":")[0]])];
};

test("values of a catalogue have to stand encoded in a preview, each of them", async () => {
  const good = items.map(({ sku }) => encoded(sku));
  assert.equal(await judgedPreview(good), ["passed"]);
  assert.equal(await judgedPreview(good.map((one) => one.toLowerCase().replaceAll("device_id", "DEVICE_ID"))), [
    "passed",
  ]);
  const [breakout, nested, accent] = good as [string, string, string];
  assert.equal(await judgedPreview([items[0]!.sku, nested, accent]), ["failed", "substitution_encoding_violation"]);
  assert.equal(await judgedPreview([breakout, "vacancy-abc123-42", accent]), ["failed", "nested_macro_re_expansion"]);
  assert.equal(await judgedPreview([breakout, nested, encodeURIComponent("cafe\u0301 (1)")]), [
    "failed",
    "substitution_encoding_violation",
  ]);
  assert.equal(await judgedPreview([breakout, nested, "{SKU}"]), ["failed", "substitution_binding_missing"]);
  assert.equal(await judgedPreview([breakout, nested]), ["failed", "substitution_binding_missing"]);
  assert.equal(await judgedPreview([]), ["failed", "preview_source_unavailable"]);
});

test("what a suite's own file expects comes before what is worked out", async () => {
  const template = "https://x.example/?g={GTIN}";
  const row = { name: "reserved-character-breakout", macro: "{GTIN}", value: "00013&cmd=drop", template };
  const odd = { vectors: [{ ...row, expected: "https://x.example/?g=SOMETHING" }] };
  const [, nested, accent] = items.map(({ sku }) => encoded(sku));
  assert.equal(await judgedPreview(["SOMETHING", nested!, accent!], odd), ["passed"]);
});

const limited = `
id: own
phases:
  - id: p
    steps:
      - id: trip
        task: expect_rate_limit_not_replayed
        requires_contract: rate_limit_trip_runner
        rate_limit_trip: {trip_target_task: create_media_buy, max_attempts: 60, trip_target_sample_request: {packages: []}}
        validations: [{check: replay_not_cached_rate_limit}]
`;

/** A seller that refuses one order in ten. */
const limitedSeller = (how: { caches?: boolean; retryAfter?: number; limit?: number }) => {
  const kept = new Map<string, JsonObject>();
  let count = 0;
  return {
    create_media_buy: ({ idempotency_key: key }: JsonObject): JsonObject => {
      const known = kept.get(String(key));
      if (known !== undefined) return known;
      count += 1;
      if (count !== (how.limit ?? 10)) return { media_buy_id: `mb-${count}` };
      const { retryAfter = 3 } = how;
      const error = { code: "RATE_LIMITED", message: "slower", ...(retryAfter > 0 && { retry_after: retryAfter }) };
      const answer = { errors: [error], [names.error]: error };
      if (how.caches) kept.set(String(key), answer);
      return answer;
    },
  };
};

const trip = async (how: Parameters<typeof limitedSeller>[0], contracts = ["rate_limit_trip_runner"]) => {
  const { steps, waited } = await runSmall(suiteOf(limited), limitedSeller(how), { contracts });
  const { status, skip, problem, checks } = steps.get("trip")!;
  return [status, skip?.reason ?? problem?.split(":")[0] ?? checks.find(({ note }) => note)?.note, waited / 1000];
};

test("a refusal for the rate is not what a repeated request is answered with", async () => {
  assert.equal(await trip({}), ["passed", undefined, 3]);
  assert.equal(await trip({ caches: true }), ["failed", "rate_limit_response_cached_as_replay", 3]);
  assert.equal(await trip({ retryAfter: 0 }), ["failed", "missing_retry_after", 0]);
  assert.equal(await trip({ retryAfter: 3600 }), ["failed", "replay_wait_exceeded", 0]);
  assert.equal(await trip({ limit: 1000 }), ["skipped", "not_applicable", 0]);
  assert.equal(await trip({}, []), ["skipped", "unsatisfied_contract", 0]);
});

test.run();
