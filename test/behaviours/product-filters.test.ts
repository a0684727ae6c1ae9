/** What filters of `get_products` leave of a catalogue, and of what they leave, which prices. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { listedCatalogue, type Product } from "../../runtime/behaviours/index.js";
import { behavingSeller, versions } from "./behaving-seller.js";

const price = (pricing_option_id: string, more: object = {}) => ({
  ...{ pricing_option_id, pricing_model: "cpm", currency: "USD" },
  ...more,
});
const product = (product_id: string, more: Partial<Product> & { readonly more?: object }): Product =>
  ({
    ...{ product_id, name: product_id, description: "Inventory.", delivery_type: "guaranteed", channels: ["display"] },
    ...{ formats: ["display_300x250_image"], pricing_options: [price("fixed", { fixed_price: 5 })] },
    ...more,
  }) as Product;

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
const cases: readonly [filter: object, left: readonly string[], since?: string][] = [
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
    const { ask, close } = await behavingSeller(version, ["sales_guaranteed"], {
      ports: { catalogue: listedCatalogue(catalogue) },
    });
    for (const [filters, left, since = "3.0"] of cases) {
      if (version < since) continue;
      const { products } = await ask("get_products", { buying_mode: "wholesale", filters });
      const shown = products.map(
        ({
          product_id: id,
          pricing_options: prices,
        }: {
          product_id: string;
          pricing_options: { pricing_option_id: string }[];
        }) => (id === "both" && prices.length === 1 ? `${id}: ${prices[0]!.pricing_option_id}` : id),
      );
      assert.equal(shown, left, JSON.stringify(filters));
    }
    await close();
  });

test.run();
