/** The creative library, its formats and languages, and what ports send over HTTP. Answers are judged by the schemas. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { exampleSignals } from "../../runtime/behaviours/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { wide } from "../support/wide.js";
import { account, behavingSeller, key, versions } from "./behaving-seller.js";

const image = { asset_type: "image", url: "https://cdn.acmeoutdoor.example/a.png", width: 300, height: 250 };
const agentUrl = "https://seller.example/mcp";

/** An upload in the words of the release: by a format's name, or by a canonical one. */
const upload = (canonical: boolean, creative_id: string, kind = "image", assets: object = { image }): JsonObject => ({
  creative_id,
  name: creative_id,
  ...(canonical ? { format_kind: kind } : { format_id: { agent_url: agentUrl, id: "display_300x250" } }),
  assets,
});

const isCanonical = (version: string): boolean => !version.startsWith("3.0");

for (const version of versions) {
  test(`${version}: the library shows the newest first, and what fits all filters`, async () => {
    const { ask, refused, close } = await behavingSeller(version, [], { with: ["creatives"] });
    const canonical = isCanonical(version);
    const creatives = [upload(canonical, "one"), { ...upload(canonical, "two"), tags: ["summer"] }];
    for (const creative of creatives) await ask("sync_creatives", { ...key(), account, creatives: [creative] });
    const ids = async (filters: object | undefined): Promise<string[]> => {
      const listed = await ask("list_creatives", { account, ...(filters !== undefined && { filters }) });
      return listed.creatives.map(({ creative_id }: { creative_id: string }) => creative_id);
    };
    assert.equal(await ids(undefined), ["two", "one"]);
    assert.equal(await ids({ tags: ["summer"] }), ["two"]);
    assert.equal(await ids({ creative_ids: ["one"] }), ["one"]);
    if (canonical) assert.equal(await ids({ asset_types: ["video"] }), []);
    const stranger = await ask("list_creatives", {}, "another");
    assert.equal(stranger.creatives, []);
    const unknown = { ...upload(false, "three"), format_id: { agent_url: agentUrl, id: "nowhere" } };
    const fault = await refused("sync_creatives", {
      ...key(),
      account,
      creatives: [upload(canonical, "four"), unknown],
    });
    assert.match(String(fault.field), /creatives\[1\]/);
    const long = { ...key(), account, creatives: [upload(canonical, wide(1_024))] };
    assert.is((await refused("sync_creatives", long)).code, "INVALID_REQUEST", "no store could keep it");
    // In strict mode one that cannot be taken stops all.
    assert.equal(await ids({ creative_ids: ["four"] }), []);
    await close();
  });

  test(`${version}: a format that was seeded hides none of the others`, async () => {
    const { ask, close } = await behavingSeller(version, [], { with: ["creatives"] });
    const sandbox = { account: { account_id: "acct_formats", sandbox: true } };
    const { formats: before } = await ask("list_creative_formats", {});
    const params = { format_id: "seeded_format", fixture: { name: "Seeded" } };
    await ask("comply_test_controller", { scenario: "seed_creative_format", params, ...sandbox });
    const { formats: after } = await ask("list_creative_formats", { account: { account_id: "acct_formats" } });
    assert.is(after.length, before.length + 1);
    const audio = after.find(({ format_id }: { format_id: { id: string } }) => format_id.id === "audio_30s");
    assert.is(audio.assets[0].asset_type, "audio");
    await close();
  });

  if (isCanonical(version))
    test(`${version}: a creative stays inside what its format is narrowed to`, async () => {
      const { ask, refused, close } = await behavingSeller(version, [], { with: ["creatives"] });
      const title = (content: string) => ({ asset_type: "text", content });
      const native = (own: object): JsonObject =>
        upload(true, "native", "native_in_feed", {
          title: title("Built for the summit"),
          main_image: { ...image, width: 1200, height: 627 },
          advertiser_name: title("Acme"),
          landing_page_url: { asset_type: "url", url: "https://acmeoutdoor.example/" },
          ...own,
        });
      const sync = (own: object) => ({ ...key(), account, creatives: [native(own)] });
      const taken = await ask("sync_creatives", sync({ cta: title("LEARN_MORE") }));
      assert.is(taken.creatives[0].action, "created");
      const words = await refused("sync_creatives", sync({ cta: title("EXPLORE") }));
      assert.equal([words.code, words.field], ["CREATIVE_VALUE_NOT_ALLOWED", "creatives[0].assets.cta"]);
      const long = await refused("sync_creatives", sync({ title: title("x".repeat(81)) }));
      assert.is(long.field, "creatives[0].assets.title");
      const small = await refused("sync_creatives", sync({ main_image: { ...image, width: 640, height: 480 } }));
      assert.is(small.field, "creatives[0].assets.main_image");
      await close();
    });

  if (version.startsWith("3.2"))
    test(`${version}: the languages of a creative are read back whole, and replaced whole or not at all`, async () => {
      const { ask, close, onBehalf } = await behavingSeller(version, [], { with: ["creatives"] });
      const text = (content: string, language: string) => ({ asset_type: "text", content, language });
      const localized = (own: object): JsonObject => ({
        ...upload(true, "localized", "image", { image, headline: text("Find your trail", "en-US") }),
        localization: {
          source: { locale_variant_id: "en", locale: "en-US" },
          target_variants: [
            { locale_variant_id: "es", locale: "es-MX", assets: { headline: text("Tu sendero", "es-MX") } },
          ],
          default_locale_variant_id: "en",
          unmatched_locale_action: "serve_default",
          ...own,
        },
      });
      const sync = (creative: JsonObject) => ask("sync_creatives", { ...key(), account, creatives: [creative] });
      const { creatives } = await sync(localized({}));
      assert.is(creatives[0].localization.variants[1].assets.image.url, image.url);
      for (const wrong of [
        { default_locale_variant_id: "missing" },
        { source: { locale_variant_id: "es", locale: "en-US" } },
        { locale_fallbacks: [{ language_range: "fr", locale_variant_id: "missing" }] },
      ]) {
        const [line] = (await sync(localized(wrong))).creatives;
        assert.equal([line.action, line.errors[0].code], ["failed", "VALIDATION_ERROR"]);
      }
      const other = { ...upload(true, "localized", "image", { image, headline: text("Another", "en-US") }) };
      assert.is((await sync(other)).creatives[0].action, "failed");
      const [kept] = (await ask("list_creatives", { account, fields: ["localization"] })).creatives;
      assert.is(kept.localization.variants.length, 2);
      assert.is(kept.assets.headline.content, "Find your trail");
      const purged = { scenario: "force_creative_purge", params: { creative_id: "localized" } };
      await ask("comply_test_controller", { ...purged, account: { ...account, sandbox: true } });
      const [tombstone] = (await ask("list_creatives", { account, include_purged: true })).creatives;
      assert.equal([tombstone.purge.kind, tombstone.assets], ["soft", undefined]);
      const left = await onBehalf("buyer", ({ documents, principal }) => documents.list("creative", principal));
      assert.not.match(
        JSON.stringify(left),
        /sendero|trail/,
        "nothing of what it was made of is left, in any language",
      );
      await close();
    });
}

test("what a port sends over HTTP is told to the caller it was sent for, without secrets", async () => {
  if (versions.length === 0) return;
  const version = versions.find(isCanonical) ?? "3.1.19";
  const told: string[] = [];
  const platform = createServer((incoming, outgoing) => {
    incoming.on("data", (chunk) => told.push(String(chunk))).on("end", () => outgoing.end("{}"));
  });
  await new Promise<void>((resolve) => platform.listen(0, "127.0.0.1", resolve));
  // However the test ends, nothing is left that holds the process.
  platform.unref();
  const url = `http://127.0.0.1:${(platform.address() as AddressInfo).port}/segments?token=secret`;
  const signals = {
    upstream: true,
    signals: async () => exampleSignals,
    activate: async ({ segmentId }: { segmentId: string }) => {
      const body = JSON.stringify({ segment: segmentId, auth: { api_key: "secret" } });
      await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    },
  } as const;
  const { ask, close } = await behavingSeller(version, ["signal_marketplace"], { ports: { signals } });
  const id = "trident_likely_ev_buyers";
  const destinations = [{ type: "platform", platform: "a-dsp", account: "seat" }];
  await ask("activate_signal", { ...key(), account, signal_agent_segment_id: id, destinations });
  assert.is(told.length, 1);
  const query = (params: object, who?: string) =>
    ask(
      "comply_test_controller",
      { account: { ...account, sandbox: true }, scenario: "query_upstream_traffic", params },
      who,
    );
  const { recorded_calls: calls } = await query({ endpoint_pattern: "POST *" });
  assert.equal([calls.length, calls[0].purpose, calls[0].status_code], [1, "platform_primary", 200]);
  assert.equal(calls[0].payload, { segment: id, auth: { api_key: "[redacted]" } });
  assert.not.match(JSON.stringify(calls), /secret/);
  assert.is((await query({ endpoint_pattern: "GET *" })).total_count, 0);
  assert.is((await query({ since_timestamp: "2099-01-01T00:00:00Z" })).total_count, 0);
  assert.is((await query({}, "another")).total_count, 0);
  const digest = "0".repeat(64);
  const digested = (await query({ attestation_mode: "digest", identifier_value_digests: [digest] })).recorded_calls[0];
  assert.equal(
    [digested.payload, digested.identifier_match_proofs],
    [undefined, [{ identifier_value_sha256: digest, found: false }]],
  );
  await close();
});

test("who asks nobody has no traffic to tell of", async () => {
  const [version] = versions;
  if (version === undefined) return;
  const { ask, close } = await behavingSeller(version, ["signal_owned"]);
  const { scenarios } = await ask("comply_test_controller", { scenario: "list_scenarios", account: { sandbox: true } });
  assert.not.ok(scenarios.includes("query_upstream_traffic"));
  await close();
});

test.run();
