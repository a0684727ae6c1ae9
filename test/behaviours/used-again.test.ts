/** Use that is reported again: final figures, corrections, and what is owed once. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { account, behavingSeller, key, type TestSeller, versions, versionsWith } from "./behaving-seller.js";

const NOVEMBER = ["2026-11-01T00:00:00Z", "2026-11-30T23:59:59Z"] as const;

async function used({ ask }: TestSeller, [start, end]: readonly [string, string], ...usage: object[]) {
  const named = usage.map((one) => ({ account, currency: "EUR", ...one }));
  return ask("report_usage", { ...key(), reporting_period: { start, end }, usage: named });
}

async function library(version: string): Promise<TestSeller> {
  const own = await behavingSeller(version, ["creative_ad_server"]);
  const pricing_options = [{ pricing_option_id: "cpm", pricing_model: "cpm", rate: 1, currency: "EUR" }];
  const assets = { video: { asset_type: "video", url: "https://cdn.example/h.mp4", width: 1920, height: 1080 } };
  const params = { creative_id: "hero", fixture: { format_id: { id: "video_30s" }, assets, pricing_options } };
  await own.ask("comply_test_controller", {
    account: { ...account, sandbox: true },
    scenario: "seed_creative",
    params,
  });
  return own;
}

const shown = async ({ ask }: TestSeller, more: object = {}): Promise<[number, number]> => {
  const { creatives } = await ask("get_creative_delivery", { account, creative_ids: ["hero"], ...more });
  const [{ totals }] = creatives;
  return [totals.impressions, totals.spend];
};

/** Impressions at a thousandth of a euro each. */
const use = (impressions: number, more: object = {}) => ({
  ...{ creative_id: "hero", pricing_option_id: "cpm", impressions, vendor_cost: impressions / 1_000 },
  ...more,
});

for (const version of versions.filter((one) => !one.startsWith("3.0"))) {
  test(`${version}: final figures take the place of all that was told of their period before, final or not`, async () => {
    const own = await library(version);
    await used(own, NOVEMBER, use(1_000));
    await used(own, NOVEMBER, use(1_100, { final: false }));
    assert.equal(await shown(own), [2_100, 2.1], "what is not known to be settled stays");
    await used(own, NOVEMBER, use(1_200, { final: false }));
    assert.equal(await shown(own), [2_200, 2.2], "the newer of two that are not settled counts");
    const final = { final: true, finalized_at: "2026-12-05T00:00:00Z" };
    await used(own, NOVEMBER, use(900, final), use(30, { ...final, ext: { part: "second" } }));
    assert.equal(await shown(own), [930, 0.93], "lines of one report are of several things");
    const corrected = { final: true, finalized_at: "2026-12-09T00:00:00Z" };
    await used(own, NOVEMBER, use(800, corrected));
    assert.equal(await shown(own), [800, 0.8]);
    await used(own, NOVEMBER, use(5_000, { final: false }));
    assert.equal(await shown(own), [800, 0.8], "what was sent before, and comes late");
    await used(own, ["2026-12-01T00:00:00Z", "2026-12-31T23:59:59Z"], use(100, corrected));
    assert.equal(await shown(own), [900, 0.9], "another period is another");
    await own.close();
  });
}

for (const version of versions)
  test(`${version}: a period is the same in whatever time zone it is written, and is of its days in UTC`, async () => {
    const own = await library(version);
    await used(own, ["2026-10-31T20:00:00-04:00", "2026-11-01T21:00:00-04:00"], use(1_000));
    await used(own, ["2026-11-01T00:00:00Z", "2026-11-02T01:00:00.000Z"], use(1_000));
    assert.equal(await shown(own), [1_000, 1]);
    assert.equal(await shown(own, { start_date: "2026-10-01", end_date: "2026-10-31" }), [0, 0]);
    assert.equal(await shown(own, { start_date: "2026-11-02", end_date: "2026-11-02" }), [1_000, 1]);
    await own.close();
  });

for (const version of await versionsWith("creative_transformers"))
  test(`${version}: what was made is owed once, with the use of one period`, async () => {
    const own = await behavingSeller(version, ["creative_transformers"]);
    const schema = version.startsWith("3.1")
      ? { target_format_id: { agent_url: "https://seller.example/mcp", id: "audio_vo" } }
      : { target_capability_id: "audio_vo" };
    const wanted = { ...key(), account, message: "Come", transformer_id: "audiostack_voiceover", ...schema };
    const { build_variant_id, pricing_option_id, vendor_cost } = await own.ask("build_creative", wanted);
    const hero = { creative_id: "hero", fixture: { format_id: { id: "audio_30s" }, assets: {} } };
    await own.ask("comply_test_controller", {
      account: { ...account, sandbox: true },
      scenario: "seed_creative",
      params: hero,
    });
    const of = { creative_id: "hero", build_variant_id, pricing_option_id, currency: "USD" };
    assert.is((await used(own, NOVEMBER, { ...of, impressions: 1_000, vendor_cost })).accepted, 1);
    assert.is((await used(own, NOVEMBER, { ...of, impressions: 1_500, vendor_cost })).accepted, 1);
    const december = ["2026-12-01T00:00:00Z", "2026-12-31T23:59:59Z"] as const;
    const twice = await used(own, december, { ...of, impressions: 10, vendor_cost });
    assert.equal([twice.accepted, twice.errors[0].field], [0, "usage[0].vendor_cost"]);
    assert.is((await used(own, december, { ...of, impressions: 10, vendor_cost: 0 })).accepted, 1);
    assert.equal(await shown(own), [1_510, vendor_cost]);
    await own.close();
  });

test.run();
