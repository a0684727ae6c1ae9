/** Formats to begin with. */
import type { JsonObject } from "../../contract/index.js";
import type { CreativeFormat, Creatives, FormatAsset } from "./creatives.js";

/** What the id of a format says of it. */
export interface SaidById {
  readonly type?: "image" | "video" | "audio";
  /** In pixels. */
  readonly size?: { readonly width: number; readonly height: number };
}

/** What an id such as `display_300x250` or `video_15s` says, and nothing that it does not say. */
export function saidById(id: string): SaidById {
  const size = /(\d{2,4})x(\d{2,4})/.exec(id);
  const isVideo = /(\d{1,3})s(ec)?\b/.test(id) || id.includes("video");
  const type = id.includes("audio")
    ? "audio"
    : isVideo
      ? "video"
      : /display|image|banner/.test(id)
        ? "image"
        : undefined;
  return {
    ...(type !== undefined && { type }),
    ...(size !== null && { size: { width: Number(size[1]), height: Number(size[2]) } }),
  };
}

/** What can be told of a format from an id: something to show, where it says nothing. */
export function formatFromId(id: string): CreativeFormat {
  const { type = "image", size } = saidById(id);
  return {
    id,
    name: id.replaceAll(/[_-]+/g, " "),
    ...(size !== undefined && { renders: [{ role: "primary", dimensions: { ...size, unit: "px" } }] }),
    assets: [
      {
        item_type: "individual",
        asset_id: type,
        asset_type: type,
        required: true,
        ...(size !== undefined && { requirements: size }),
      },
    ],
  };
}

/** As televisions and players have it: 16:9. */
const widescreen = [{ role: "primary", dimensions: { width: 1920, height: 1080, unit: "px" } }] as const;

const video = (seconds: number): CreativeFormat => ({
  ...formatFromId(`video_${seconds}s`),
  renders: widescreen,
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

/** Who defines the standard formats, as `core/format-id.json` of each release names it. */
export const STANDARD_AGENT = "https://creative.adcontextprotocol.org";

const individual = (asset_id: string, asset_type: string, requirements?: JsonObject): FormatAsset => ({
  item_type: "individual",
  asset_id,
  asset_type,
  required: true,
  ...(requirements !== undefined && { requirements }),
});

/** A still image in a size that every buyer knows. */
const standardDisplay = (width: number, height: number): CreativeFormat => ({
  ...display(width, height),
  id: `display_${width}x${height}_image`,
  agent_url: STANDARD_AGENT,
  assets: [
    individual("banner_image", "image", { width, height }),
    { ...individual("click_url", "url"), required: false },
  ],
});

/** A spot of a length that every buyer knows. */
const standardSpot = (type: "video" | "audio", seconds: number): CreativeFormat => {
  const id = `${type}_standard_${seconds}s`;
  const length = { min_duration_ms: seconds * 1000, max_duration_ms: seconds * 1000 };
  return {
    ...formatFromId(id),
    ...(type === "video" && { renders: widescreen }),
    agent_url: STANDARD_AGENT,
    name: `Standard ${type}, ${seconds} seconds`,
    description: `A hosted ${type} spot of ${seconds} seconds.`,
    assets: [individual(`${type}_file`, type, length)],
  };
};

/** What the example's products take: a buyer that was never here knows what to make. */
const standardFormats: readonly CreativeFormat[] = [
  standardDisplay(300, 250),
  standardDisplay(728, 90),
  standardDisplay(970, 250),
  standardSpot("video", 15),
  standardSpot("video", 30),
  standardSpot("audio", 30),
];

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
  ...standardFormats,
];

/** Formats of a made-up seller, to start from. */
export const exampleCreatives: Creatives = { formats: async () => formats };
