/** The brands you speak for, and what they license. Asked at every call. */
import { type BrandsPort, exampleBrands } from "adbind/behaviours";

export const brands: BrandsPort = {
  async brands(who) {
    return [
      {
        brand_id: "trail_bakery",
        house: { domain: "trailbakery.example", name: "Trail Bakery" },
        names: [{ en: "Trail Bakery" }],
        identity: { description: "Bread for long walks.", industries: ["food_beverage"], keller_type: "master" },
      },
      // What clients are tested with; leave it out when yours is complete.
      ...(await exampleBrands.brands(who)),
    ];
  },
  rights: (who) => exampleBrands.rights(who),
  // Why a licence is not given though nothing of the offering speaks against it; undefined gives it.
  refuse: async () => undefined,
};
