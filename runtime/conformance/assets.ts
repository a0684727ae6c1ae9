/** `$build_assets_from_format`: a creative's assets, from the kit, for the slots that a seller's format has. */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import { fieldAt, valuesAt } from "./paths.js";
import type { PassedAnswer } from "./state.js";

const DIRECTIVE = "$build_assets_from_format";

interface Slot {
  readonly id: string;
  readonly type: string;
  readonly width?: number;
  readonly height?: number;
}

export interface AssetSource {
  readonly context: ReadonlyMap<string, unknown>;
  readonly kit: JsonObject;
  readonly history: readonly PassedAnswer[];
}

const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

function slotOf(value: JsonObject, params: JsonObject): Slot {
  const requirements = isJsonObject(value.requirements) ? value.requirements : {};
  const width =
    number(requirements.width) ?? number(requirements.min_width) ?? number(value.width) ?? number(params.width);
  const height =
    number(requirements.height) ?? number(requirements.min_height) ?? number(value.height) ?? number(params.height);
  return {
    id: String(value.asset_group_id ?? value.asset_id ?? value.id),
    type: String(value.asset_type ?? value.type ?? ""),
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
  };
}

/** Slots that a format needs filled: of a canonical option's params, or of a format of the list. */
function slotsOf(format: unknown, history: readonly PassedAnswer[]): Slot[] {
  if (!isJsonObject(format)) return [];
  const own = format.slots ?? format.assets ?? format.asset_groups;
  const list = Array.isArray(own) ? own : undefined;
  if (list !== undefined)
    return list
      .filter(isJsonObject)
      .filter(({ required }) => required !== false)
      .map((slot) => slotOf(slot, format));
  const listed = history.flatMap(({ payload }) => valuesAt(payload, "formats[*]").map(({ value }) => value));
  const known = listed.findLast((one) => isJsonObject(one) && fieldAt(one, "format_id.id") === format.id);
  return isJsonObject(known) ? slotsOf({ ...known, slots: known.assets ?? known.assets_required }, []) : [];
}

const texts: Readonly<Record<string, string>> = {
  headline: "headlines",
  headlines: "headlines",
  title: "headlines",
  description: "descriptions",
  descriptions: "descriptions",
  body: "descriptions",
  cta: "cta",
  call_to_action: "cta",
};

function textFor(id: string, assets: unknown): unknown {
  const category = Object.hasOwn(texts, id) ? texts[id]! : undefined;
  const found = category === undefined ? undefined : fieldAt(assets, `text.${category}`);
  const first = Array.isArray(found) ? found[0] : found;
  const content = isJsonObject(first) ? (first.content ?? first.text) : first;
  return typeof content === "string" ? { asset_type: "text", content } : undefined;
}

function fill({ id, type, width, height }: Slot, kit: JsonObject): unknown {
  const { assets } = kit;
  if (type === "image") {
    const images = valuesAt(assets, "images[*]")
      .map(({ value }) => value)
      .filter(isJsonObject);
    const image = images.find(
      (one) => (width === undefined || one.width === width) && (height === undefined || one.height === height),
    );
    if (image === undefined) return undefined;
    const { url, width: w, height: h, mime_type: mime } = image;
    return {
      asset_type: "image",
      url,
      width: w,
      height: h,
      ...(typeof mime === "string" && { format: mime.split("/")[1] }),
    };
  }
  if (type === "url") {
    const url = fieldAt(assets, "click_url") ?? fieldAt(kit, "click_url");
    return typeof url === "string" ? { asset_type: "url", url, url_type: "clickthrough" } : undefined;
  }
  return type === "text" ? textFor(id, assets) : undefined;
}

/** Puts assets where a request asks for them. */
export function buildAssets(
  request: JsonObject,
  source: AssetSource,
): { readonly request: JsonObject } | { readonly unfilled: string } {
  if (!JSON.stringify(request).includes(DIRECTIVE)) return { request };
  let unfilled: string | undefined;
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (!isJsonObject(value)) return value;
    const from = value[DIRECTIVE];
    if (typeof from !== "string")
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one)]));
    const format = source.context.get(from.replace(/^\$context\./, ""));
    const built: JsonObject = {};
    for (const slot of slotsOf(format, source.history)) {
      const asset = fill(slot, source.kit);
      if (asset === undefined) {
        const size = slot.width === undefined ? "" : ` of ${slot.width}x${slot.height}`;
        unfilled ??= `the test kit has no ${slot.type || "asset"}${size} for the slot ${slot.id}`;
      } else built[slot.id] = asset;
    }
    return built;
  };
  const filled = walk(request) as JsonObject;
  return unfilled === undefined ? { request: filled } : { unfilled };
}
