/** What filters of `get_products` leave of a catalogue, and of what they leave, which prices. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue } from "../../runtime/behaviours/index.js";
import { behavingSeller, versions } from "./behaving-seller.js";
import { type FilterCase, judgeFilters, price, product } from "./filtered-products.js";

const doubleverify = { domain: "doubleverify.com" };
const viewability = { metric: "viewability", threshold: 0.7, standard: "mrc", vendor: doubleverify };
const provider = { agent_url: "https://tmp.example", context_match: true };
const catalogue = [
  product("plain", {}),
  product("sole", { more: { exclusivity: "exclusive" } }),
  product("both", {
    pricing_options: [
      price("fixed", { fixed_price: 9, min_spend_per_package: 2_000 }),
      price("bid", { floor_price: 2 }),
    ],
  }),
  product("instream", {
    channels: ["olv"],
    formats: ["video_standard_30s"],
    more: { video_placement_types: ["instream"] },
  }),
  product("viewed", {
    more: { performance_standards: [viewability, { ...viewability, metric: "ivt", threshold: 0.02 }] },
  }),
  product("matched", { more: { trusted_match: { context_match: true, providers: [provider] } } }),
  product("euros", {
    pricing_options: [price("euros", { fixed_price: 5, currency: "EUR", min_spend_per_package: 9_000 })],
  }),
];

/** What is left, with the prices of what has several. */
const cases: readonly FilterCase[] = [
  [{ exclusivity: "exclusive" }, ["sole"]],
  [{ exclusivity: "none" }, ["plain", "both", "instream", "viewed", "matched", "euros"]],
  [{ is_fixed_price: false }, ["both: bid"]],
  [{ pricing_structures: ["auction"] }, ["both: bid"], "3.2"],
  [{ pricing_structures: ["contingent"] }, [], "3.2"],
  [
    { budget_range: { max: 1_000, currency: "USD" }, is_fixed_price: true },
    ["plain", "sole", "instream", "viewed", "matched", "euros"],
  ],
  [{ budget_range: { max: 1_000, currency: "EUR" } }, ["plain", "sole", "both", "instream", "viewed", "matched"]],
  [{ pricing_currencies: ["EUR"] }, ["euros"], "3.1"],
  [{ video_placement_types: ["interstitial"] }, [], "3.1"],
  [{ video_placement_types: ["interstitial", "instream"] }, ["instream"], "3.1"],
  [{ format_kinds: ["video_hosted"] }, ["instream"], "3.2"],
  [{ required_performance_standards: [{ ...viewability, threshold: 0.6 }] }, ["viewed"]],
  [{ required_performance_standards: [{ ...viewability, threshold: 0.8 }] }, []],
  [{ required_performance_standards: [{ ...viewability, vendor: { domain: "ias.example" } }] }, []],
  [{ required_performance_standards: [{ ...viewability, metric: "ivt", threshold: 0.03 }] }, ["viewed"]],
  [{ required_performance_standards: [{ ...viewability, metric: "ivt", threshold: 0.01 }] }, []],
  [{ trusted_match: { providers: [provider] } }, ["matched"]],
  [{ trusted_match: { providers: [{ ...provider, identity_match: true }] } }, []],
  [{ trusted_match: { response_types: ["creative"] } }, []],
  [{ audience_evidence_requirements: { requirement_mode: "required", evidence_presence: "required" } }, [], "3.2"],
];

for (const version of versions)
  test(`${version}: filters leave what has all that they ask for, at the prices they ask for`, async () => {
    const seller = await behavingSeller(version, ["sales_guaranteed"], {
      ports: { catalogue: listedCatalogue(catalogue) },
    });
    await judgeFilters(version, seller, cases);
    await seller.close();
  });

const usd = (code: string) => ({ system: "nielsen_dma", code });
const zip = (...values: readonly string[]) => [{ country: "US", system: "zip", values }];
const places = [
  product("everywhere", {}),
  product("america", { coverage: { countries: ["US", "CA"] } }),
  product("new_york", { coverage: { regions: ["US-NY"], metros: [usd("501")] } }),
  product("block", { coverage: { postal_areas: zip("10001", "10002") } }),
  product("britain", { coverage: { countries: ["GB"], regions: ["GB-SCT"] } }),
];

const placed: readonly FilterCase[] = [
  [{ countries: ["US"] }, ["everywhere", "america", "new_york", "block"]],
  [{ countries: ["GB", "FR"] }, ["everywhere", "britain"]],
  [{ regions: ["US-CA"] }, ["everywhere", "america", "block"]],
  [{ regions: ["GB-SCT"] }, ["everywhere", "britain"]],
  [{ regions: ["GB-ENG"] }, ["everywhere"]],
  [{ metros: [usd("803")] }, ["everywhere", "america", "block", "britain"]],
  [{ postal_areas: [{ system: "us_zip", values: ["10002"] }] }, ["everywhere", "america", "new_york", "block"]],
  [{ postal_areas: zip("90210") }, ["everywhere", "america", "new_york"], "3.1"],
];

for (const version of versions)
  test(`${version}: a product is left out where it says that it covers none of the places asked for`, async () => {
    const seller = await behavingSeller(version, ["sales_guaranteed"], {
      ports: { catalogue: listedCatalogue(places) },
    });
    await judgeFilters(version, seller, placed);
    const { products } = await seller.ask("get_products", { buying_mode: "wholesale" });
    assert.ok(products.every((one: object) => !("coverage" in one)));
    await seller.close();
  });

const stock = (impressions: number) => ({
  forecast: {
    ...{ method: "modeled", forecast_range_unit: "availability", currency: "USD" },
    points: [{ metrics: { impressions: { mid: impressions } } }],
  },
});
const segment = { scope: "data_provider", data_provider_domain: "data.example", signal_id: "runners" };
const chosen = { signal_ref: segment, name: "Runners", value_type: "binary" };
const older = { data_provider_domain: "data.example", selection_type: "by_id", signal_ids: ["runners"] };
const binary = { value_type: "binary", value: true };
const supplied = [
  product("standard", { more: stock(5_000) }),
  product("own", { formats: ["takeover"], more: stock(900_000) }),
  product("signals", {
    more: {
      ...{ signal_targeting_allowed: true, data_provider_signals: [older] },
      ...{ signal_targeting_options: [chosen] },
    },
  }),
  product("measured", {
    reporting_capabilities: {
      ...{ available_reporting_frequencies: ["daily"], expected_delay_minutes: 60, timezone: "UTC" },
      ...{ supports_webhooks: true, date_range_support: "date_range", available_metrics: ["viewability"] },
    },
  }),
  product("over", { more: { expires_at: "2020-01-01T00:00:00Z" } }),
];
const declared = {
  media_buy: {
    features: { inline_creative_management: true, catalog_management: false },
    execution: {
      axe_integrations: ["https://exchange.example"],
      targeting: {
        ...{ geo_countries: true, geo_metros: { nielsen_dma: true } },
        keyword_targets: { supported_match_types: ["exact"] },
      },
    },
  },
};
const all = ["standard", "own", "signals", "measured"];
const needs = (level: string, more: object = {}) => ({ required_geo_targeting: [{ level, ...more }] });
const executed: readonly FilterCase[] = [
  [{ standard_formats_only: true }, ["standard", "signals", "measured"]],
  [{ min_exposures: 10_000 }, ["own", "signals", "measured"]],
  [{ start_date: "2099-01-01", end_date: "2099-01-31" }, ["standard", "signals", "measured"]],
  [{ start_date: "2098-01-01", end_date: "2098-01-31" }, all],
  [{ start_date: "2099-01-01" }, ["standard", "signals", "measured"]],
  [{ end_date: "2099-01-01" }, ["standard", "signals", "measured"]],
  [{ start_date: "2098-12-31" }, all],
  [{ required_features: { inline_creative_management: true, catalog_management: false } }, all],
  [{ required_features: { catalog_management: true } }, []],
  [{ required_features: { property_list_filtering: true } }, []],
  [{ required_axe_integrations: ["https://exchange.example"] }, all],
  [{ required_axe_integrations: ["https://other.example"] }, []],
  [needs("country"), all],
  [needs("region"), []],
  [needs("metro", { system: "nielsen_dma" }), all],
  [needs("metro", { system: "uk_itl1" }), []],
  [needs("postal_area", { country: "US", system: "zip" }), [], "3.1"],
  [{ keywords: [{ keyword: "boots", match_type: "exact" }] }, all],
  [{ keywords: [{ keyword: "boots" }] }, []],
  [{ required_metrics: ["viewable_rate"] }, ["measured"], "3.2.4"],
  [{ signal_targeting: [{ signal_ref: segment, ...binary }] }, ["signals"], "3.1"],
  [{ signal_targeting: [{ signal_ref: segment, ...binary, targeting_mode: "exclude" }] }, [], "3.1"],
  [
    {
      signal_targeting: [
        { signal_id: { source: "catalog", data_provider_domain: "data.example", id: "runners" }, ...binary },
      ],
    },
    ["signals"],
  ],
  [{ format_option_refs: [{ scope: "product", format_option_id: "takeover" }] }, ["own"], "3.2"],
];

for (const version of versions)
  test(`${version}: a filter excludes what the product or its seller does not do, and what is not there then`, async () => {
    const seller = await behavingSeller(version, ["sales_guaranteed"], {
      capabilities: declared,
      ports: {
        catalogue: {
          ...listedCatalogue(supplied),
          unavailable: async ({ product: { product_id }, end }) =>
            product_id === "own" && end.startsWith("2099") ? "sold out" : undefined,
        },
      },
    });
    await judgeFilters(version, seller, executed);
    const filters = { start_date: "2098-02-01", end_date: "2098-01-31" };
    const { code, field } = await seller.refused("get_products", { buying_mode: "wholesale", filters });
    assert.equal([code, field], ["INVALID_REQUEST", "filters.end_date"], "that is no flight");
    await seller.close();
  });

const ways = [{ pattern: "file_transfer", transport: "s3", vendor: { domain: "onboard.example" } }];
const reached = [product("plain", {}), product("sent", { more: { audience_activation: { methods: ways } } })];
const methods = (...audience_activation_methods: readonly object[]) => ({ audience_activation_methods });
const activated: readonly FilterCase[] = [
  [methods({ pattern: "file_transfer" }), ["sent"]],
  [methods({ pattern: "file_transfer", directions: ["seller_to_buyer"] }), ["sent"]],
  [methods({ pattern: "clean_room" }, { pattern: "file_transfer", transport: "gcs" }), []],
  [methods({ pattern: "dataset_query", vendor: { domain: "onboard.example" } }), []],
];

for (const version of versions.filter((one) => one === "3.2.4"))
  test(`${version}: ways to activate an audience are a filter for sellers that take part in the experiment`, async () => {
    const ports = { catalogue: listedCatalogue(reached) };
    const taking = await behavingSeller(version, ["sales_guaranteed"], {
      ...{ ports, capabilities: { experimental_features: ["media_buy.audience_activation"] } },
    });
    await judgeFilters(version, taking, activated);
    await taking.close();
    const other = await behavingSeller(version, ["sales_guaranteed"], { ports });
    await judgeFilters(version, other, [[methods({ pattern: "clean_room" }), ["plain", "sent"]]]);
    await other.close();
  });

for (const version of versions.filter((one) => one === "3.2.4"))
  test(`${version}: offers that are to be on a list of properties are refused, where nobody reads the list`, async () => {
    const { refused, close } = await behavingSeller(version, ["sales_guaranteed"]);
    const property_list = { agent_url: "https://lists.example/mcp", list_id: "safe" };
    const { code, field } = await refused("list_products", { criteria: { offer_filters: { property_list } } });
    assert.equal([code, field], ["UNSUPPORTED_FEATURE", "criteria.offer_filters.property_list"]);
    await close();
  });

test.run();
