/** A product may promise its reports by format, place or device: who asks for one by what is promised is not left without. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { ownAdServer } from "../../runtime/behaviours/index.js";
import { corpus } from "../support/corpus.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const sandbox = { ...account, sandbox: true };
const PRODUCT = "told_by_device";
const reporting_capabilities = {
  available_reporting_frequencies: ["daily"],
  ...{ expected_delay_minutes: 0, timezone: "UTC", supports_webhooks: false, date_range_support: "date_range" },
  available_metrics: ["impressions", "spend", "clicks"],
  ...{ supports_device_type_breakdown: true, supports_audience_breakdown: false },
};

type Seller = Awaited<ReturnType<typeof behavingSeller>>;

/** A buy of a product that promises what is given, and what is said of its package to who asks for breakdowns. */
async function bought(seller: Seller, reporting: object) {
  const command = async (scenario: string, params: object) => {
    const said = await seller.ask("comply_test_controller", { scenario, account: sandbox, params });
    assert.ok(said.success, JSON.stringify(said));
  };
  const option = { pricing_model: "cpm", currency: "USD", fixed_price: 10 };
  const fixture = { delivery_type: "non_guaranteed", channels: ["display"], reporting_capabilities: reporting };
  await command("seed_product", { product_id: PRODUCT, fixture });
  await command("seed_pricing_option", { product_id: PRODUCT, pricing_option_id: "cpm", fixture: option });
  const line = { product_id: PRODUCT, pricing_option_id: "cpm", budget: 500 };
  const { media_buy_id } = await seller.ask("create_media_buy", {
    ...{ ...key(), account: sandbox, brand, packages: [line] },
    ...{ start_time: "asap", end_time: "2099-02-01T00:00:00Z" },
  });
  const request = (more?: object) => ({ account: sandbox, media_buy_ids: [media_buy_id], ...more });
  const asked = async (reporting_dimensions?: object, more?: object) => {
    const wanted = request({ ...more, ...(reporting_dimensions && { reporting_dimensions }) });
    return (await seller.ask("get_media_buy_delivery", wanted)).media_buy_deliveries[0].by_package[0];
  };
  const refused = (reporting_dimensions: object) =>
    seller.refused("get_media_buy_delivery", request({ reporting_dimensions }));
  return { media_buy_id, command, asked, refused };
}

for (const version of versions)
  test(`${version}: a breakdown that a product promises is answered, and one that it does not is left out`, async () => {
    const seller = await behavingSeller(version, ["sales_non_guaranteed"]);
    const { media_buy_id, command, asked } = await bought(seller, reporting_capabilities);
    const wanted = { device_type: { sort_by: "impressions" }, audience: {}, placement: {} };
    const before = await asked(wanted);
    assert.equal(before.by_device_type, []);
    assert.is(before.by_device_type_truncated, false, "nothing was delivered: no row is all there is");
    await command("simulate_delivery", { media_buy_id, impressions: 1000, clicks: 10 });
    const after = await asked(wanted);
    assert.is(after.impressions, 1000);
    assert.equal(after.by_device_type, []);
    assert.is(after.by_device_type_truncated, true, "there is more than is shown");
    for (const name of ["by_audience", "by_placement", "by_audience_truncated"]) assert.not(name in after, name);
    if (version === "3.2.4")
      assert.equal(
        [after.by_device_type_sorted_by, after.by_device_type_sort_direction],
        ["impressions", "desc"],
        "as it was asked for",
      );
    assert.not("by_device_type" in (await asked()), "nobody has asked");
    await seller.close();
  });

const promising = {
  ...reporting_capabilities,
  supports_geo_breakdown: { country: true, metro: { nielsen_dma: true } },
  supports_placement_breakdown: true,
};

const shareOf = (spend: number) => ({ impressions: spend * 100, clicks: 100 - spend, spend });
/** Thirty countries of Europe and beyond, in no order. */
const countries = "DE FR IT ES PT NL BE LU AT CH PL CZ SK HU SI HR RS BG RO GR SE NO DK FI EE LV LT IE GB IS"
  .split(" ")
  .map((geo_code, at) => ({ geo_level: "country", geo_code, geo_name: geo_code, ...shareOf((at * 7) % 31) }));
const devices = [
  { device_type: "mobile", impressions: 10, spend: 3, clicks: 1 },
  { device_type: "ctv", impressions: 30, spend: 2 },
  { device_type: "desktop", impressions: 20, spend: 5, clicks: 2 },
];

for (const version of versions)
  test(`${version}: rows that a port gives are sorted as asked, and cut off where they are too many`, async () => {
    const queries: { dimension: string; timezone: string }[] = [];
    const seller = await behavingSeller(version, ["sales_non_guaranteed"], {
      ports: {
        reporting: {
          delivery: async () => undefined,
          async breakdown({ dimension, timezone, packageIds }) {
            queries.push({ dimension, timezone });
            const rows = { geo: countries, device_type: devices }[dimension];
            // As a port of plain JavaScript says that nothing is known.
            return { [packageIds[0]!]: rows === undefined ? null : { rows } } as never;
          },
        },
      },
    });
    const { asked, refused } = await bought(seller, promising);
    const byPlace = await asked({ geo: { geo_level: "country" }, placement: {} });
    assert.is(byPlace.by_geo.length, 25);
    assert.is(byPlace.by_geo_truncated, true);
    const spent = (rows: readonly { spend: number }[]) => rows.map(({ spend }) => spend);
    assert.equal(
      spent(byPlace.by_geo),
      spent(byPlace.by_geo).toSorted((a, b) => b - a),
    );
    assert.equal([byPlace.by_placement, byPlace.by_placement_truncated], [[], false], "nothing is known of it");
    assert.equal(queries, [
      { dimension: "geo", timezone: "UTC" },
      { dimension: "placement", timezone: "UTC" },
    ]);
    const names = (line: { by_device_type: readonly { device_type: string }[] }) =>
      line.by_device_type.map(({ device_type }) => device_type);
    const byDevice = await asked({ device_type: { sort_by: "clicks" }, geo: { geo_level: "region" } });
    assert.equal(names(byDevice), ["desktop", "mobile", "ctv"], "what has no clicks is last");
    assert.is(byDevice.by_device_type_truncated, false);
    assert.not("by_geo" in byDevice, "regions are not promised");
    const plain = await asked({ device_type: { sort_by: "roas" } }, { requested_metrics: ["conversions"] });
    assert.equal(names(plain), ["desktop", "mobile", "ctv"], "by what was spent");
    if (version === "3.2.4") {
      assert.not("clicks" in plain.by_device_type[0], "nobody has asked");
      assert.equal([plain.by_device_type_sorted_by, plain.by_device_type_sort_direction], ["spend", "desc"]);
      const asc = { sort_by: "impressions", sort_direction: "asc", limit: 2 };
      const first = await asked({ device_type: asc });
      assert.equal([names(first), first.by_device_type_truncated], [["mobile", "desktop"], true]);
      const { cursor } = first.by_device_type_pagination;
      const next = await asked({ device_type: { ...asc, cursor } });
      assert.equal([names(next), next.by_device_type_truncated], [["ctv"], false]);
      assert.not("by_device_type_pagination" in next);
      assert.is((await refused({ device_type: { ...asc, cursor: "-1" } })).code, "INVALID_REQUEST");
    }
    await seller.close();
  });

if (existsSync(path.join(corpus, "releases/3.2.4")))
  test("3.2.4: ages are reported as they were asked for or not at all, and what a port gives that is no amount to nobody", async () => {
    const age = { include_unknown: false };
    const row = { demographic: "18-34", demographic_system: "nielsen", impressions: 1 };
    const bands = { reporting_modes: ["enumerated_intervals"], intervals: [{ age: { min: 18, max: 34, ...age } }] };
    const exact = { reporting_modes: ["exact_predicates"], min_reportable_age: 18, max_reportable_age: 65 };
    let spend = 5;
    const asked: unknown[] = [];
    const seller = await behavingSeller("3.2.4", ["sales_non_guaranteed"], {
      ports: {
        adServer: {
          ...ownAdServer,
          async breakdown(_, { asked: { age_ranges } }) {
            asked.push(age_ranges);
            return { [packageId]: { rows: [{ ...row, spend }], suppressed: true } };
          },
        },
      },
    });
    let packageId = "";
    for (const [said, can, cannot] of [
      [bands, { min: 18, max: 34 }, { min: 18, max: 49 }],
      [{ ...exact, supports_unbounded_min: false, supports_unbounded_max: true }, { min: 21 }, { max: 21 }],
    ] as const) {
      const supports_demographic_breakdown = { supported: true, age: said, measurement_systems: ["own"] };
      const buy = await bought(seller, { ...reporting_capabilities, supports_demographic_breakdown });
      packageId = (await buy.asked()).package_id;
      const wanted = (range: object) => ({ demographic: { age_ranges: [{ ...range, ...age }] } });
      const { by_demographic: rows, by_demographic_suppressed: suppressed } = await buy.asked(wanted(can));
      assert.equal([rows.length, suppressed], [1, true]);
      const { code, field } = await buy.refused(wanted(cannot));
      assert.equal([code, field], ["UNSUPPORTED_FEATURE", "reporting_dimensions.demographic.age_ranges"]);
      spend = Number.NaN;
      assert.is((await buy.refused(wanted(can))).code, "CONFIGURATION_ERROR");
      spend = 5;
    }
    assert.is(asked.length, 4, "not for what is refused");
    await seller.close();
  });

test.run();
