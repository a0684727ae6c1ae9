/** What is found for a buyer who says whom it is to reach: products that can, configured for it. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourToolCall } from "../frame/call.js";
import type { Product } from "../ports/catalogue.js";
import { hardTargeting } from "./brief-targeting.js";
import { type Configured, configure, configuredProduct } from "./configured.js";
import { type Overlay, reaches, supportsAll, termsOf } from "./overlay.js";
import { sharesCap, withCounters } from "./shared-caps.js";

export interface TargetedRequest {
  readonly buying_mode?: string;
  readonly brief?: string;
  readonly filters?: { readonly countries?: readonly string[] };
  readonly targeting_overlay?: Overlay;
  readonly required_overlay_support?: JsonObject;
  readonly media_buy_frequency_cap?: JsonObject;
  readonly required_media_buy_support?: JsonObject;
}

export interface Targeted {
  readonly products: Product[];
  /** Those of them that were made for the request, by their ids: what is shown of them is to be kept. */
  readonly configured: ReadonlyMap<string, Configured>;
  /** What the brief was taken to demand, told to its writer. */
  readonly resolution?: JsonObject;
}

/** @throws ToolError INVALID_REQUEST where the older filter says something else than the overlay */
function checkOneVoice({ filters, targeting_overlay: overlay }: TargetedRequest): void {
  const [older, newer] = [filters?.countries, overlay?.geo_countries];
  if (older === undefined || newer === undefined) return;
  if (older.length === newer.length && older.every((one) => newer.includes(one))) return;
  throw new ToolError("INVALID_REQUEST", "filters.countries and targeting_overlay.geo_countries say two things", {
    field: "filters.countries",
  });
}

/** Releases that have no targeting-aware discovery get the products as they are. */
export function targeted(call: BehaviourToolCall, found: Product[], request: TargetedRequest): Targeted {
  if (!call.shape.has("products", "*", "targeting_resolution")) return { products: found, configured: new Map() };
  checkOneVoice(request);
  const { required_overlay_support: support = {}, required_media_buy_support: shared = {} } = request;
  const { media_buy_frequency_cap: cap } = request;
  const able = found.filter(
    (one) =>
      supportsAll(withCounters(call, termsOf(one).overlay_support ?? {}), support) &&
      supportsAll(one.more?.media_buy_support ?? {}, shared) &&
      (cap === undefined || sharesCap(call, [one], cap)),
  );
  const stated = request.buying_mode === "brief" ? hardTargeting(request.brief ?? "") : undefined;
  const overlay = request.targeting_overlay ?? stated;
  if (overlay === undefined) return { products: able, configured: new Map() };
  const configured = new Map<string, Configured>();
  const products = able.flatMap((one) => {
    const how = reaches(one, overlay);
    if (how !== "configured") return how === undefined ? [] : [one];
    const made = configure(call, one, overlay);
    if (made === undefined) return [];
    configured.set(made.product_id, made);
    return configuredProduct(one, made);
  });
  const told = request.targeting_overlay === undefined && products.length > 0;
  return { products, configured, ...(told && { resolution: { brief_targeting: overlay } }) };
}
