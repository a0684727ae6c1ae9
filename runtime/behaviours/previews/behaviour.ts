import type { Behaviour } from "../frame/behaviour.js";
import { serveHosted } from "./hosted.js";
import { previewCreative } from "./preview.js";

/** Showing what a creative will look like: whoever takes creatives shows them, and not only who makes them. */
export const previewsBehaviour: Behaviour = {
  area: "previews",
  needs: ["formats", "accounts"],
  tools: { preview_creative: previewCreative },
  routes: serveHosted,
};
