/** What you sell. Asked at every call: a price changed here, or in your database, is the price from then on. */
import { type Catalogue, exampleProducts, exampleProposals } from "adbind/behaviours";

export const catalogue: Catalogue = {
  // `principal` is who asks, `account` whom for: products and prices may differ.
  async products() {
    return [
      {
        product_id: "homepage_display",
        name: "Homepage display",
        description: "Display on the front page, for outdoor lifestyle and sports readers.",
        delivery_type: "guaranteed",
        channels: ["display"],
        formats: ["display_300x250_image", "display_728x90_image"],
        pricing_options: [
          {
            pricing_option_id: "cpm_fixed",
            pricing_model: "cpm",
            currency: "USD",
            fixed_price: 8,
            min_spend_per_package: 500,
          },
        ],
      },
      {
        product_id: "run_of_site",
        name: "Run of site",
        description: "Display across the whole site, sold by auction.",
        delivery_type: "non_guaranteed",
        channels: ["display"],
        formats: ["display_300x250_image"],
        pricing_options: [{ pricing_option_id: "cpm_auction", pricing_model: "cpm", currency: "USD", floor_price: 2 }],
      },
      // What clients are tested with; leave it out when yours is complete.
      ...exampleProducts,
    ];
  },
  proposals: async () => exampleProposals,
};
