/** Formats that are built here, beside those that are taken. */
import type { CreativeFormat } from "../ports/creatives.js";
import { formatFromId } from "../ports/example-formats.js";

const sizes = [
  [300, 250],
  [728, 90],
  [320, 50],
] as const;

const generative = ([width, height]: readonly [number, number]): CreativeFormat => ({
  ...formatFromId(`display_${width}x${height}_generative`),
  name: `Generated display ${width} x ${height}`,
  description: "Made from a brief, or from a catalogue's items.",
  assets: [
    { item_type: "individual", asset_id: "generated_image", asset_type: "image", required: true },
    { item_type: "individual", asset_id: "headline", asset_type: "text", required: true },
    { item_type: "individual", asset_id: "cta", asset_type: "text", required: false },
    { item_type: "individual", asset_id: "impression_tracker", asset_type: "url", required: false },
    { item_type: "individual", asset_id: "click_url", asset_type: "url", required: false },
  ],
});

const vast = (seconds: number): CreativeFormat => ({
  ...formatFromId(`vast_${seconds}s`),
  renders: [{ role: "primary", dimensions: { width: 1920, height: 1080, unit: "px" } }],
  name: `VAST, ${seconds} seconds`,
  description: "A tag for video players.",
  assets: [{ item_type: "individual", asset_id: "vast_tag", asset_type: "vast", required: true }],
});

const master: CreativeFormat = {
  ...formatFromId("source_master"),
  name: "Source master",
  description: "What other formats are made from: an image, and texts.",
  renders: [{ role: "primary", dimensions: { width: 1200, height: 628, unit: "px" } }],
};

const mobile: CreativeFormat = {
  ...formatFromId("display_320x50"),
  name: "Display 320 x 50",
  description: "A still image of 320 by 50 pixels.",
};

export const builtFormats: readonly CreativeFormat[] = [...sizes.map(generative), vast(15), vast(30), master, mobile];
