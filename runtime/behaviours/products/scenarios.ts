import type { JsonObject } from "../../contract/index.js";
import { formatFromId, formatsOf, seedFormat } from "../formats/formats.js";
import { ScenarioError, type Scenarios, textParam } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { PricingOption, Product } from "../ports/catalogue.js";
import { findProduct, seedProduct } from "./products.js";

const channels = new Set(
  "display olv social search ctv linear_tv radio streaming_audio podcast dooh ooh print cinema email gaming retail_media influencer affiliate product_placement".split(
    " ",
  ),
);

/** What people call a channel the wire has another word for. */
const alias: Readonly<Record<string, string>> = { video: "olv", audio: "streaming_audio", native: "display" };

/** A product sold at a price until it is told otherwise. */
const usualPrice: PricingOption = {
  pricing_option_id: "standard",
  pricing_model: "cpm",
  currency: "USD",
  fixed_price: 10,
};

/** What is taken on a channel where a fixture says nothing of formats; a still image on any other. */
const usualFormats: Readonly<Record<string, string>> = {
  ...{ video: "video_30s", olv: "video_30s", ctv: "video_30s", linear_tv: "video_30s" },
  ...{ audio: "audio_30s", streaming_audio: "audio_30s", podcast: "audio_30s", radio: "audio_30s" },
};

/** Formats by id: those that are named, or that canonical ones stand for; a product has one at least. */
function formatsNamed(ids: unknown, { format_options: options }: JsonObject, on: readonly string[]): string[] {
  if (Array.isArray(ids) && ids.length > 0)
    return ids.map((one: string | { id: string }) => (typeof one === "string" ? one : one.id));
  if (Array.isArray(options)) return [];
  const medium = on.map((one) => usualFormats[one]).find((one) => one !== undefined);
  return [medium ?? "display_300x250"];
}

/** Formats of another agent are named in full. */
const objectsOnly = (ids: unknown): JsonObject =>
  Array.isArray(ids) && ids.some((one) => typeof one === "object" && "agent_url" in one) ? { format_ids: ids } : {};

/** Properties of a publisher: all of them, where a fixture names none. */
const selectorsOf = (all: readonly JsonObject[]): readonly JsonObject[] =>
  all.map((one) => ({
    selection_type: one.property_ids !== undefined ? "by_id" : one.property_tags !== undefined ? "by_tag" : "all",
    ...one,
  }));

function seededProduct(id: string, fixture: JsonObject): Product {
  const {
    name,
    description,
    delivery_type,
    channels: named,
    format_ids,
    pricing_options,
    ...rest
  } = fixture as Record<string, never>;
  const { publisher_properties, reporting_capabilities, ...more } = rest as Record<string, never>;
  const title = name ?? id.replaceAll(/[_-]+/g, " ");
  return {
    product_id: id,
    name: title,
    description: description ?? `${title}, ${delivery_type ?? "guaranteed"}`,
    delivery_type: delivery_type ?? "guaranteed",
    // Two names of a fixture may be one channel.
    channels: [...new Set(((named ?? []) as string[]).map((one) => alias[one] ?? one))].filter((one) =>
      channels.has(one),
    ),
    formats: formatsNamed(format_ids, more, (named ?? []) as string[]),
    pricing_options: pricing_options ?? [usualPrice],
    ...(publisher_properties !== undefined && { publisher_properties: selectorsOf(publisher_properties) }),
    ...(reporting_capabilities !== undefined && { reporting_capabilities }),
    more: Object.fromEntries(
      Object.entries({ ...more, ...objectsOnly(format_ids) }).filter(([field]) => field !== "product_id"),
    ),
  };
}

/** What a product is sold in can be looked up: a format that nobody has put there is what its id says. */
async function seedFormats(call: BehaviourCall, { formats, more }: Product): Promise<void> {
  // Formats of another agent are listed by that.
  if (more?.format_ids !== undefined) return;
  const known = await formatsOf(call);
  for (const id of formats) if (!known.has(id)) seedFormat(call, formatFromId(id));
}

/** `seed_product`, `seed_pricing_option`: what is on sale from now on. */
export const productScenarios: Scenarios = {
  async seed_product(params, call) {
    const id = textParam(params, "product_id");
    const seeded = seededProduct(id, (params.fixture ?? {}) as JsonObject);
    const before = await findProduct(call, id);
    await seedFormats(call, seeded);
    const given = (params.fixture as JsonObject | undefined)?.pricing_options !== undefined;
    await seedProduct(call, {
      ...seeded,
      ...(before !== undefined && !given && { pricing_options: before.pricing_options }),
    });
    return { message: `product ${id} is there` };
  },
  async seed_pricing_option(params, call) {
    const id = textParam(params, "product_id");
    const option = textParam(params, "pricing_option_id");
    const found = await findProduct(call, id);
    if (found === undefined) throw new ScenarioError("NOT_FOUND", `no product ${id}`);
    const { fixture = {} } = params as { fixture?: JsonObject };
    // The usual price goes when the product gets one of its own.
    const others = found.pricing_options.filter(
      ({ pricing_option_id }) => pricing_option_id !== option && pricing_option_id !== usualPrice.pricing_option_id,
    );
    const { fixed_price: _, ...bare } = usualPrice;
    const seeded = { ...bare, ...fixture, pricing_option_id: option } as PricingOption;
    await seedProduct(call, { ...found, pricing_options: [...others, seeded] });
    return { message: `pricing option ${option} of ${id} is there` };
  },
};
