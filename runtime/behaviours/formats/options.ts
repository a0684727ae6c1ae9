/** A seller's formats as declarations of canonical ones, for releases that have those. */
import type { CanonicalSlot, JsonObject } from "../../contract/index.js";
import type { AnswerShapes } from "../frame/shape.js";
import type { CreativeFormat, FormatId } from "../ports/creatives.js";

/** What names one declaration: a publisher's, or a product's own. */
export interface OptionRef {
  readonly publisher_domain?: string;
  readonly format_option_id?: string;
}

/** A canonical format as a seller or a product takes it. */
export interface DeclaredOption extends OptionRef, JsonObject {
  readonly format_kind?: string;
  readonly params?: JsonObject;
  readonly v1_format_ref?: readonly FormatId[];
}

export const isOption = (one: OptionRef, ref: OptionRef): boolean =>
  one.format_option_id === ref.format_option_id && one.publisher_domain === ref.publisher_domain;

const kinds: Readonly<Record<string, string>> = {
  image: "image",
  video: "video_hosted",
  audio: "audio_hosted",
  html: "html5",
  zip: "html5",
  javascript: "display_tag",
  display_tag: "display_tag",
  vast: "video_vast",
  daast: "audio_daast",
};

/** The canonical format that an asset of a type makes; undefined of text and links, which every format may have. */
export const kindOfAsset = (type: unknown): string | undefined =>
  typeof type === "string" && Object.hasOwn(kinds, type) ? kinds[type] : undefined;

/** What the format is made of decides which canonical one it narrows. */
export function canonicalKind({ assets = [], canonical, more }: CreativeFormat): string {
  const stated = canonical?.kind ?? (more?.canonical as { kind?: string } | undefined)?.kind;
  if (stated !== undefined) return stated;
  const types = assets.map(({ asset_type }) => asset_type);
  const known = types.map(kindOfAsset).find((kind) => kind !== undefined);
  return known ?? "image";
}

/** What assets of our own are called in canonical formats. */
const alias: Readonly<Record<string, string>> = { click_url: "landing_page_url" };

/**
 * The slots of a canonical format that assets go into, by their own names: a slot of that name, or the required one of their
 * type. What has no slot there keeps its name.
 */
export function slotNames(
  assets: readonly { readonly asset_id: string; readonly asset_type?: string | undefined }[],
  slots: readonly CanonicalSlot[] = [],
): Map<string, string> {
  const known = new Set(slots.map(({ asset_group_id }) => asset_group_id));
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { asset_id, asset_type } of assets) {
    const named = known.has(asset_id) ? asset_id : alias[asset_id];
    const required = slots.find(
      (slot) => slot.required && slot.asset_type === asset_type && !taken.has(slot.asset_group_id),
    );
    const name = named !== undefined && known.has(named) ? named : (required?.asset_group_id ?? asset_id);
    names.set(asset_id, name);
    taken.add(name);
  }
  return names;
}

/** In milliseconds; without an upper bound it is open there. Early releases know no open side, and nothing is shorter than 0. */
function duration(least: number | undefined, most: number | undefined): JsonObject {
  if (least === undefined && most === undefined) return {};
  return least === most ? { duration_ms_exact: least } : { duration_ms_range: [least ?? 0, most ?? null] };
}

function paramsOf(format: CreativeFormat, kind: string, { canonical }: Pick<AnswerShapes, "canonical">): JsonObject {
  const { renders, assets = [] } = format;
  const size = renders?.[0]?.dimensions;
  const bound = (name: string): number | undefined =>
    assets.map(({ requirements }) => requirements?.[name]).find((one): one is number => typeof one === "number");
  const names = slotNames(assets, canonical(kind));
  const slots = assets.map(({ asset_id, asset_type, required }) => ({
    asset_group_id: names.get(asset_id),
    asset_type,
    required,
  }));
  const stated = format.canonical?.params;
  if (stated !== undefined) return { ...stated, slots };
  const timed = kind === "video_hosted" || kind === "audio_hosted";
  if (timed) return { ...duration(bound("min_duration_ms"), bound("max_duration_ms")), slots };
  return { ...(size !== undefined && { width: size.width, height: size.height }), slots };
}

export const formatOptions = (
  agentUrl: string,
  formats: readonly CreativeFormat[],
  shapes: Pick<AnswerShapes, "canonical">,
): DeclaredOption[] =>
  formats.map((format) => {
    const kind = canonicalKind(format);
    return {
      format_option_id: format.id,
      display_name: format.name,
      format_kind: kind,
      params: paramsOf(format, kind, shapes),
      v1_format_ref: [{ agent_url: format.agent_url ?? agentUrl, id: format.id }],
    };
  });
