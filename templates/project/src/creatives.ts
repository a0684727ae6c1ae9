/** Which formats you take, and who writes the copy. What is left out is adbind's. */
import { type Creatives, exampleCreatives } from "adbind/behaviours";

export const creatives: Creatives = {
  async formats() {
    return [
      {
        id: "display_336x280",
        name: "Display 336 x 280",
        renders: [{ role: "primary", dimensions: { width: 336, height: 280, unit: "px" } }],
        assets: [{ item_type: "individual", asset_id: "image", asset_type: "image", required: true }],
      },
      // What clients are tested with; leave it out when yours is complete.
      ...(await exampleCreatives.formats()),
    ];
  },
};
