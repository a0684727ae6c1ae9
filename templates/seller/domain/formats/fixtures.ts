/** The formats this seller starts with. */
import type { Fixture } from "../../documents.js";
import { type Format, formatFixture, formatFromId } from "./formats.js";

const video = (seconds: number): Format => ({
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

const display = (width: number, height: number): Format => ({
  ...formatFromId(`display_${width}x${height}`),
  name: `Display ${width} x ${height}`,
  description: `A still image of ${width} by ${height} pixels.`,
});

export const fixtures: readonly Fixture[] = (
  [
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
  ] satisfies readonly Format[]
).map(formatFixture);
