/** What the smallest seller sells. */
import type { GetProductsArms } from "#bindings";

export const products: GetProductsArms["completed"]["products"] = [
  {
    product_id: "front_page",
    name: "Front page",
    description: "Display on the front page, above the fold.",
    publisher_properties: [{ publisher_domain: "news.example", selection_type: "all" }],
    format_ids: [{ agent_url: "https://formats.example", id: "display_970x250" }],
    delivery_type: "guaranteed",
    pricing_options: [{ pricing_option_id: "cpm", pricing_model: "cpm", currency: "EUR", fixed_price: 18 }],
    reporting_capabilities: {
      available_reporting_frequencies: ["daily"],
      expected_delay_minutes: 240,
      timezone: "UTC",
      supports_webhooks: false,
      available_metrics: ["impressions", "spend"],
      date_range_support: "date_range",
    },
  },
];
