/** What is told once: use of a creative on several buys, figures that are settled, collections of one name, a language. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { CollectionsPort, KnownCollection } from "../../runtime/behaviours/index.js";
import { account, behavingSeller, key, versions, versionsWith } from "./behaving-seller.js";

interface Line {
  readonly media_buy_id?: string;
  readonly totals: { readonly impressions: number; readonly spend: number };
}

for (const version of versions) {
  test(`${version}: use of a creative counts once, whatever buys it has tags for, and in its own currency`, async () => {
    const { ask, close } = await behavingSeller(version, ["creative_ad_server"]);
    const pricing_options = [{ pricing_option_id: "cpm", pricing_model: "cpm", rate: 0.1, currency: "EUR" }];
    const assets = { video: { asset_type: "video", url: "https://cdn.example/h.mp4", width: 1920, height: 1080 } };
    const fixture = { format_id: { id: "video_30s" }, assets, pricing_options };
    const params = { creative_id: "hero", fixture };
    await ask("comply_test_controller", {
      account: { ...account, sandbox: true },
      scenario: "seed_creative",
      params,
    });
    const target_format_id = { agent_url: "https://creative.example", id: "vast_30s" };
    for (const media_buy_id of ["mb_1", "mb_2"])
      await ask("build_creative", { account, ...key(), creative_id: "hero", target_format_id, media_buy_id });
    const reported = (start: string, end: string, more: object) =>
      ask("report_usage", {
        ...key(),
        reporting_period: { start: `${start}T00:00:00Z`, end: `${end}T00:00:00Z` },
        usage: [{ account, creative_id: "hero", pricing_option_id: "cpm", currency: "EUR", ...more }],
      });
    await reported("2026-11-01", "2026-11-02", { impressions: 1_000, vendor_cost: 0.1 });
    await reported("2026-11-02", "2026-11-03", { impressions: 2_000, vendor_cost: 0.2 });
    // The same once more, under another key.
    const again = await reported("2026-11-02", "2026-11-03", { impressions: 2_000, vendor_cost: 0.2 });
    assert.is(again.accepted, 1);
    await reported("2026-11-01", "2026-11-02", { impressions: 700, vendor_cost: 0.07, media_buy_id: "mb_1" });
    const lines = async () => {
      const { currency, creatives } = await ask("get_creative_delivery", { account, creative_ids: ["hero"] });
      assert.is(currency, "EUR");
      return (creatives as Line[]).map(({ media_buy_id, totals }) => [media_buy_id, totals.impressions, totals.spend]);
    };
    const told = [
      ["mb_1", 700, 0.07],
      ["mb_2", 0, 0],
      [undefined, 3_000, 0.3],
    ];
    assert.equal(await lines(), told);
    if (!version.startsWith("3.0")) {
      const on = { media_buy_id: "mb_2" };
      await reported("2026-11-05", "2026-11-06", { impressions: 1_000, vendor_cost: 0.1, final: false, ...on });
      const final = { final: true, finalized_at: "2026-11-20T00:00:00Z" };
      await reported("2026-11-01", "2026-11-30", { impressions: 900, vendor_cost: 0.09, ...final, ...on });
      assert.equal((await lines())[1], ["mb_2", 900, 0.09]);
    }
    await close();
  });
}

for (const version of await versionsWith("collection_lists"))
  test(`${version}: two publishers may have a collection of one id each`, async () => {
    const known = ["a.example", "b.example", "c.example"].map(
      (publisher_domain): KnownCollection => ({
        collection_id: "news",
        publisher_domain,
        name: `News of ${publisher_domain}`,
        distribution_ids: [{ type: "imdb_id", value: `tt${publisher_domain}` }],
      }),
    );
    const collections: CollectionsPort = { collections: async () => known };
    const { ask, close } = await behavingSeller(version, ["collection_lists"], { ports: { collections } });
    const { list } = await ask("create_collection_list", { ...key(), name: "All" });
    assert.is(list.collection_count, 3);
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const pagination = { max_results: 1, ...(cursor !== undefined && { cursor }) };
      const page = await ask("get_collection_list", { list_id: list.list_id, pagination });
      names.push(...page.collections.map(({ name }: KnownCollection) => name));
      cursor = page.pagination.cursor;
    } while (cursor !== undefined && names.length < 9);
    assert.equal(
      names,
      known.map(({ name }) => name),
    );
    await close();
  });

for (const version of await versionsWith("content_standards"))
  test(`${version}: a language is the same however it is written`, async () => {
    const policy = { content: async () => ({ status: "failed" as const }) };
    const { ask, close } = await behavingSeller(version, ["content_standards"], { ports: { policy } as never });
    const { standards_id } = await ask("create_content_standards", {
      ...key(),
      scope: { languages_any: ["en"], description: "Acme" },
      policies: [{ policy_id: "p", policy: "No violence.", enforcement: "must" }],
    });
    const verdict = async (language: string) => {
      const assets = [{ type: "text", content: "A fight.", language }];
      const artifact = { property_rid: "01916f3a-9c4e-7000-8000-000000000010", artifact_id: "a", assets };
      return (await ask("calibrate_content", { ...key(), standards_id, artifact })).verdict;
    };
    assert.equal([await verdict("en"), await verdict("EN-us"), await verdict("de")], ["fail", "fail", "pass"]);
    await close();
  });

test.run();
