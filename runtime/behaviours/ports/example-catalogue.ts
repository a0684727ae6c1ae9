/** A catalogue to begin with: ids are those of the protocol's own examples. */
import type { PricingOption, Product, Proposal } from "./catalogue.js";

const fixed = (id: string, price: number, least = 500): PricingOption => ({
  pricing_option_id: id,
  pricing_model: "cpm",
  currency: "USD",
  fixed_price: price,
  min_spend_per_package: least,
});

/** What is watched is counted when it was watched to the end. */
const watched = { available_metrics: ["impressions", "spend", "clicks", "completion_rate", "completed_views"] };

/** Products of a made-up publisher, to start from. */
export const exampleProducts: readonly Product[] = [
  {
    product_id: "lifestyle_display_q2",
    name: "Lifestyle display",
    description: "Display on section fronts for outdoor lifestyle and sports readers.",
    delivery_type: "guaranteed",
    channels: ["display"],
    formats: ["display_300x250_image", "display_728x90_image", "display_970x250_image"],
    pricing_options: [fixed("cpm_standard", 8)],
  },
  {
    product_id: "sports_preroll_q2",
    name: "Sports pre-roll",
    description: "Online video before sports and outdoor lifestyle programmes.",
    delivery_type: "guaranteed",
    channels: ["olv"],
    formats: ["video_standard_30s", "video_standard_15s"],
    reporting_capabilities: watched,
    pricing_options: [fixed("cpm_guaranteed", 22)],
  },
  {
    product_id: "outdoor_ctv_q2",
    name: "Outdoor CTV",
    description: "Spots on connected TV, in outdoor lifestyle programmes of the streaming app.",
    delivery_type: "guaranteed",
    channels: ["ctv"],
    formats: ["video_standard_30s", "video_standard_15s"],
    reporting_capabilities: watched,
    pricing_options: [fixed("cpm_standard", 38, 1000)],
  },
  {
    product_id: "sports_ctv_q2",
    name: "Sports CTV",
    description: "Spots on connected TV, around live sports.",
    delivery_type: "guaranteed",
    channels: ["ctv"],
    formats: ["video_standard_30s"],
    reporting_capabilities: watched,
    pricing_options: [fixed("cpm_guaranteed", 45, 1000)],
  },
  {
    product_id: "local_display_dynamic",
    name: "Local dynamic display",
    description: "Dynamic product ads around a place, filled from a catalogue, for foot traffic and reservations.",
    delivery_type: "non_guaranteed",
    channels: ["display"],
    formats: ["display_300x250_image", "display_728x90_image"],
    pricing_options: [fixed("cpm_standard", 6, 100)],
    more: { catalog_types: ["product", "offering", "store"] },
  },
  {
    product_id: "run_of_site_auction",
    name: "Run of site",
    description: "Display across the whole site, sold by auction.",
    delivery_type: "non_guaranteed",
    channels: ["display"],
    formats: ["display_300x250_image", "display_728x90_image"],
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
    product_id: "test-product",
    name: "Test product",
    description: "Something to order while a client is being written.",
    delivery_type: "guaranteed",
    channels: ["display"],
    formats: ["display_300x250_image"],
    pricing_options: [fixed("test-pricing", 10, 100), fixed("default", 10, 100)],
  },
];

/** Proposals of a made-up publisher, to start from. */
export const exampleProposals: readonly Proposal[] = [
  {
    proposal_id: "balanced_reach_q2",
    name: "Balanced reach",
    description: "Half of the money on the big screen, the rest on video and display for frequency.",
    proposal_status: "draft",
    allocations: [
      { product_id: "outdoor_ctv_q2", allocation_percentage: 50, pricing_option_id: "cpm_standard" },
      { product_id: "sports_preroll_q2", allocation_percentage: 30, pricing_option_id: "cpm_guaranteed" },
      { product_id: "lifestyle_display_q2", allocation_percentage: 20, pricing_option_id: "cpm_standard" },
    ],
    total_budget_guidance: { min: 10_000, recommended: 50_000, max: 250_000, currency: "USD" },
  },
];
