/** A seller's formats as declarations of canonical ones, for releases that have those. */
import type { JsonObject } from "../../contract/index.js";
import type { CreativeFormat } from "../ports/creatives.js";

const kinds: Readonly<Record<string, string>> = {
  image: "image",
  video: "video_hosted",
  audio: "audio_hosted",
  html: "html5",
  javascript: "display_tag",
  vast: "video_vast",
  daast: "audio_daast",
};

/** What the format is made of decides which canonical one it narrows. */
export function canonicalKind({ assets = [], more }: CreativeFormat): string {
  const stated = (more?.canonical as { kind?: string } | undefined)?.kind;
  if (stated !== undefined) return stated;
  const types = assets.map(({ asset_type }) => asset_type);
  const known = types.map((type) => kinds[type]).find((kind) => kind !== undefined);
  return known ?? "image";
}

function paramsOf({ renders, assets = [] }: CreativeFormat, kind: string): JsonObject {
  const size = renders?.[0]?.dimensions;
  const longest = assets
    .map(({ requirements }) => requirements?.max_duration_ms)
    .find((one): one is number => typeof one === "number");
  const slots = assets.map(({ asset_id, asset_type, required }) => ({
    asset_group_id: asset_id,
    asset_type,
    required,
  }));
  const timed = kind === "video_hosted" || kind === "audio_hosted";
  if (timed) return { ...(longest !== undefined && { duration_ms_range: [null, longest] }), slots };
  return { ...(size !== undefined && { width: size.width, height: size.height }), slots };
}

export const formatOptions = (agentUrl: string, formats: readonly CreativeFormat[]): JsonObject[] =>
  formats.map((format) => {
    const kind = canonicalKind(format);
    return {
      format_option_id: format.id,
      display_name: format.name,
      format_kind: kind,
      params: paramsOf(format, kind),
      v1_format_ref: [{ agent_url: agentUrl, id: format.id }],
    };
  });
