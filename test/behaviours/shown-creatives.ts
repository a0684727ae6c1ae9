/** Products that take one thing each, and creatives of which some fit. */
import { exampleProducts, listedCatalogue, type Product } from "../../runtime/behaviours/index.js";

const price = { pricing_option_id: "cpm", pricing_model: "cpm", currency: "USD", floor_price: 1 };
export const product = (product_id: string, formats: readonly string[]): Product => ({
  ...{ product_id, name: product_id, description: "Sold.", delivery_type: "non_guaranteed", channels: ["ctv"] },
  ...{ formats, pricing_options: [price] },
});
/** A format of an agent that nobody here has asked. */
export const standard = (id: string, measured: object = {}) => ({
  ...{ agent_url: "https://creative.adcontextprotocol.org", id, ...measured },
});
export const catalogue = listedCatalogue([
  ...exampleProducts,
  product("spots", ["video_standard_15s"]),
  product("tiles", ["display_300x250_image"]),
  product("sizes", ["display_300x250_image", "display_728x90_image"]),
  product("sound", ["audio_30s"]),
  product("anything", []),
  product("takeover", ["homepage_takeover"]),
  { ...product("elsewhere", []), more: { format_ids: [standard("premium_pod")] } },
  { ...product("template", []), more: { format_ids: [standard("display_static", { width: 300, height: 250 })] } },
]);

const own = (id: string) => ({ agent_url: "https://seller.example/mcp", id });
export const image = (creative_id: string, width: number, height: number) => ({
  ...{ creative_id, name: creative_id, format_id: own(`display_${width}x${height}`) },
  assets: { image: { asset_type: "image", url: "https://x.example/i.png", width, height } },
});
const spot = (creative_id: string, seconds: number) => ({
  ...{ creative_id, name: creative_id, format_id: own(`video_${seconds}s`) },
  assets: {
    video: {
      ...{ asset_type: "video", url: "https://x.example/v.mp4", width: 1920, height: 1080 },
      duration_ms: seconds * 1_000,
    },
  },
});
export const tile = image("tile", 300, 250);
export const board = image("board", 728, 90);
export const short = spot("short", 15);
export const long = spot("long", 30);
