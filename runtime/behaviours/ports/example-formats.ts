/** Formats to begin with. */
import type { CreativeFormat, Creatives } from "./creatives.js";

/** What can be told of a format from an id such as `display_300x250` or `video_15s`. */
export function formatFromId(id: string): CreativeFormat {
  const size = /(\d{2,4})x(\d{2,4})/.exec(id);
  const seconds = /(\d{1,3})s(ec)?\b/.exec(id);
  const dimensions = size === null ? undefined : { width: Number(size[1]), height: Number(size[2]), unit: "px" };
  const type = id.includes("audio") ? "audio" : seconds !== null || id.includes("video") ? "video" : "image";
  return {
    id,
    name: id.replaceAll(/[_-]+/g, " "),
    renders: [{ role: "primary", dimensions: dimensions ?? { width: 1920, height: 1080, unit: "px" } }],
    assets: [
      {
        item_type: "individual",
        asset_id: type,
        asset_type: type,
        required: true,
        ...(dimensions !== undefined && { requirements: { width: dimensions.width, height: dimensions.height } }),
      },
    ],
  };
}

const video = (seconds: number): CreativeFormat => ({
  ...formatFromId(`video_${seconds}s`),
  name: `Video, ${seconds} seconds`,
  description: `A hosted video of up to ${seconds} seconds, 16:9.`,
  assets: [
    {
      item_type: "individual",
      asset_id: "video",
      asset_type: "video",
      required: true,
      requirements: { max_duration_ms: seconds * 1000 },
    },
  ],
});

const display = (width: number, height: number): CreativeFormat => ({
  ...formatFromId(`display_${width}x${height}`),
  name: `Display ${width} x ${height}`,
  description: `A still image of ${width} by ${height} pixels.`,
});

const formats: readonly CreativeFormat[] = [
  display(300, 250),
  display(728, 90),
  display(970, 250),
  video(15),
  video(30),
  {
    ...display(300, 250),
    id: "display_300x250_catalog",
    name: "Display 300 x 250 from a catalogue",
    description: "Filled from items of a catalogue, which is given or named in the brief.",
    assets: [{ item_type: "individual", asset_id: "catalog", asset_type: "catalog", required: false }],
  },
  {
    ...formatFromId("audio_30s"),
    name: "Audio, 30 seconds",
    description: "A hosted audio spot of up to 30 seconds.",
  },
  {
    id: "native_in_feed",
    name: "Native, in the feed",
    description: "A title, a picture and an advertiser, put together in the look of the page.",
    canonical: {
      kind: "native_in_feed",
      params: {
        title_max_chars: 80,
        body_text_max_chars: 140,
        main_image_sizes: [
          { width: 1200, height: 627 },
          { width: 1080, height: 1080 },
        ],
        cta_values: ["LEARN_MORE", "SHOP_NOW", "SIGN_UP", "DOWNLOAD"],
      },
    },
    assets: [
      { item_type: "individual", asset_id: "title", asset_type: "text", required: true },
      { item_type: "individual", asset_id: "main_image", asset_type: "image", required: false },
      { item_type: "individual", asset_id: "advertiser_name", asset_type: "text", required: true },
      { item_type: "individual", asset_id: "landing_page_url", asset_type: "url", required: true },
    ],
  },
];

export const exampleCreatives: Creatives = { formats: async () => formats };
