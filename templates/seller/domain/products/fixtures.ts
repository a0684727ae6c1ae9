/** The catalogue this seller starts with: replace it with yours. */
import type { Fixture } from "../../documents.js";
import { type Product, productFixture, usualProperties, usualReporting } from "./products.js";
import { proposalFixture } from "./proposals.js";

const SITE = "publisher.example";

const common = {
  publisher_properties: usualProperties(SITE),
  reporting_capabilities: usualReporting,
} satisfies Partial<Product>;

const catalogue: readonly Product[] = [
  {
    ...common,
    product_id: "homepage_display",
    name: "Homepage display",
    description: "Display on the home page and section fronts, outdoor lifestyle and sports readers.",
    delivery_type: "guaranteed",
    channels: ["display"],
    formats: ["display_300x250", "display_728x90", "display_970x250"],
    pricing_options: [
      {
        pricing_option_id: "cpm_fixed",
        pricing_model: "cpm",
        currency: "USD",
        fixed_price: 12,
        min_spend_per_package: 500,
      },
    ],
  },
  {
    ...common,
    product_id: "run_of_site_display",
    name: "Run of site display",
    description: "Display across the whole site, sold by auction.",
    delivery_type: "non_guaranteed",
    channels: ["display"],
    formats: ["display_300x250", "display_728x90"],
    pricing_options: [
      {
        pricing_option_id: "cpm_auction",
        pricing_model: "cpm",
        currency: "USD",
        floor_price: 2,
        min_spend_per_package: 100,
      },
    ],
  },
  {
    ...common,
    product_id: "sports_video",
    name: "Sports video",
    description: "Pre-roll video in sports and outdoor lifestyle programmes.",
    delivery_type: "guaranteed",
    channels: ["olv"],
    formats: ["video_15s", "video_30s"],
    pricing_options: [
      {
        pricing_option_id: "cpm_fixed",
        pricing_model: "cpm",
        currency: "USD",
        fixed_price: 28,
        min_spend_per_package: 500,
      },
    ],
  },
  {
    ...common,
    product_id: "connected_tv",
    name: "Connected TV",
    description: "Thirty-second CTV spots in the streaming app.",
    delivery_type: "guaranteed",
    channels: ["ctv"],
    formats: ["video_15s", "video_30s"],
    pricing_options: [
      {
        pricing_option_id: "cpm_fixed",
        pricing_model: "cpm",
        currency: "USD",
        fixed_price: 38,
        min_spend_per_package: 1000,
      },
    ],
  },
];

export const fixtures: readonly Fixture[] = [
  ...catalogue.map(productFixture),
  proposalFixture({
    proposal_id: "balanced_reach",
    name: "Balanced reach",
    description: "Half of the money on the big screen, the rest on video and display for frequency.",
    proposal_status: "draft",
    allocations: [
      { product_id: "connected_tv", allocation_percentage: 50, pricing_option_id: "cpm_fixed" },
      { product_id: "sports_video", allocation_percentage: 30, pricing_option_id: "cpm_fixed" },
      { product_id: "homepage_display", allocation_percentage: 20, pricing_option_id: "cpm_fixed" },
    ],
    total_budget_guidance: { min: 10_000, recommended: 50_000, max: 250_000, currency: "USD" },
  }),
];
