/** A product that says by what its packages may be targeted takes that, and what was agreed to before, and nothing else. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import { account, behavingSeller, brand, key, versions } from "./behaving-seller.js";

const product = (product_id: string, more: object = {}): Product => ({
  ...{
    product_id,
    name: product_id,
    description: "Inventory.",
    delivery_type: "non_guaranteed",
    channels: ["display"],
  },
  ...{ formats: ["display_300x250_image"], more: { ...more } },
  pricing_options: [{ pricing_option_id: "cpm", pricing_model: "cpm", currency: "USD", floor_price: 1 }],
});

const overlay_support = {
  geo_countries: { max_values_per_package: 1 },
  geo_regions: { countries: { FR: { values: ["FR-44", "FR-49"] }, ES: { all_values: true } } },
  geo_metros: { systems: ["nielsen_dma"] },
  geo_postal_areas: { US: ["zip"] },
  geo_proximity: { radius: true },
  browser: { families: ["chrome"] },
  daypart_targets: true,
  device_platform: true,
  keyword_targets: { supported_match_types: ["exact"] },
};
const catalogue = listedCatalogue([
  product("declares", { overlay_support, property_targeting_allowed: true }),
  product("silent"),
]);
const point = { lat: 47.2, lng: -1.5 };
const hours = { days: ["monday"], start_hour: 6, end_hour: 10 };
const list = { agent_url: "https://lists.example/mcp", list_id: "pl_1" };

/** By which dimension, what; and whether it is taken. */
const cases: readonly [dimension: string, value: unknown, taken: boolean, since?: string][] = [
  ["geo_countries", ["FR"], true],
  ["geo_countries", ["FR", "DE"], false],
  ["geo_countries_exclude", ["FR"], false],
  ["geo_regions", ["FR-44", "ES-MD"], true],
  ["geo_regions", ["FR-44", "FR-ARA"], false],
  ["geo_regions", ["DE-BY"], false],
  ["geo_metros", [{ system: "nielsen_dma", values: ["501"] }], true],
  ["geo_metros", [{ system: "uk_itl1", values: ["TLI"] }], false],
  ["geo_postal_areas", [{ country: "US", system: "zip", values: ["10001"] }], true],
  ["geo_postal_areas", [{ system: "us_zip", values: ["10001"] }], true],
  ["geo_postal_areas", [{ country: "DE", system: "plz", values: ["10115"] }], false],
  ["geo_proximity", [{ ...point, radius: { value: 5, unit: "km" } }], true],
  ["geo_proximity", [{ ...point, travel_time: { value: 5, unit: "min" }, transport_mode: "walking" }], false],
  ["browser", ["chrome"], true],
  ["browser", ["chrome", "safari"], false],
  ["daypart_targets", [hours], true],
  ["daypart_targets", [{ ...hours, timezone: "Europe/Paris" }], false, "3.2.4"],
  ["device_platform", ["ios"], true],
  ["device_type", ["mobile"], false],
  ["keyword_targets", [{ keyword: "boots", match_type: "exact" }], true],
  ["keyword_targets", [{ keyword: "boots", match_type: "broad" }], false],
  ["frequency_cap", { max_impressions: 3, per: "individuals", window: { interval: 1, unit: "days" } }, false],
  ["property_list", list, true],
];

const order = (product_id: string, targeting_overlay?: object) => ({
  ...{ ...key(), account, brand, start_time: "2099-01-01T00:00:00Z", end_time: "2099-02-01T00:00:00Z" },
  packages: [
    {
      product_id,
      pricing_option_id: "cpm",
      budget: 1_000,
      bid_price: 2,
      ...(targeting_overlay && { targeting_overlay }),
    },
  ],
});

for (const version of versions.filter((one) => one >= "3.2"))
  test(`${version}: an order takes the targeting that its product declares, value by value`, async () => {
    const { ask, refused, close } = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    const { media_buy_id, packages } = await ask("create_media_buy", order("declares"));
    const { package_id } = packages[0];
    for (const [dimension, value, taken, since = "3.2"] of cases) {
      if (version < since) continue;
      const overlay = { [dimension]: value };
      const change = { ...key(), account, media_buy_id, packages: [{ package_id, targeting_overlay: overlay }] };
      if (taken) {
        await ask("create_media_buy", order("declares", overlay));
        await ask("update_media_buy", change);
        continue;
      }
      for (const [tool, asked] of [
        ["create_media_buy", order("declares", overlay)],
        ["update_media_buy", change],
      ] as const) {
        const { code, field } = await refused(tool, asked);
        const at = `packages[0].targeting_overlay.${dimension}`;
        assert.equal([code, field], ["UNSUPPORTED_FEATURE", at], `${tool} ${JSON.stringify(overlay)}`);
      }
      await ask("create_media_buy", order("silent", overlay));
    }
    const added = { package_id, keyword_targets_add: [{ keyword: "boots", match_type: "phrase" }] };
    const widened = await refused("update_media_buy", { ...key(), account, media_buy_id, packages: [added] });
    assert.is(widened.code, "UNSUPPORTED_FEATURE");
    await close();
  });

for (const version of versions.filter((one) => one >= "3.2"))
  test(`${version}: a product is not found for values that it would not be sold by`, async () => {
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    for (const [dimension, value, taken, since = "3.2"] of cases) {
      if (version < since) continue;
      const wanted = { buying_mode: "wholesale", targeting_overlay: { [dimension]: value } };
      const { products } = await ask("get_products", wanted);
      assert.is(products.length, taken ? 1 : 0, JSON.stringify(wanted));
      if (taken) await ask("create_media_buy", order(products[0].product_id, { [dimension]: value }));
    }
    await close();
  });

for (const version of versions.filter((one) => one < "3.2"))
  test(`${version}: a release that has no word for it lets every product take what it is given`, async () => {
    const { ask, close } = await behavingSeller(version, ["sales_non_guaranteed"], { ports: { catalogue } });
    await ask("create_media_buy", order("declares", { device_type: ["mobile"] }));
    await close();
  });

test.run();
