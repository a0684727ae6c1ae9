/** Which formats you take, and who writes the copy. What is left out is adbind's. */
import { type Creatives, exampleCreatives, tellPlatform } from "adbind/behaviours";

/** Who serves your tags; without an address they are served here. */
const server = process.env.CREATIVES_URL;

export const creatives: Creatives = {
  ...(server !== undefined && { upstream: true }),
  serve: ({ creativeId, ...tag }, call) => tellPlatform(server, "/tags", { creative_id: creativeId, ...tag }, call),
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
