/** Whether a creative is what its format asks for. */
import type { ProtocolError } from "adbind/contract";
import type { Call } from "../../handler.js";
import { type FormatAsset, type FormatId, format } from "../formats/formats.js";
import type { Asset } from "./creatives.js";

/** What a buyer uploads, as far as this seller looks at it. */
export interface Upload {
  readonly creative_id: string;
  readonly name: string;
  readonly format_id: FormatId;
  readonly assets: { readonly [id: string]: Asset | readonly Asset[] };
  readonly tags?: readonly string[];
}

/** Problems of an upload; none where the format is another agent's, which only that agent can judge. */
export function problems(call: Call, { format_id, assets }: Upload, field: string): ProtocolError[] {
  if (format_id.agent_url !== call.agentUrl) return [];
  const wanted = format(call, format_id.id);
  if (wanted === undefined) return [error("REFERENCE_NOT_FOUND", `no format ${format_id.id}`, `${field}.format_id`)];
  const given = Object.values(assets).flat() as Asset[];
  return (wanted.assets ?? []).flatMap((asset) => assetProblems(asset, given, field));
}

function assetProblems({ asset_id, asset_type, required, requirements }: FormatAsset, given: Asset[], field: string) {
  const fitting = given.filter((one) => one.asset_type === undefined || one.asset_type === asset_type);
  const at = `${field}.assets.${asset_id}`;
  if (fitting.length === 0)
    return required ? [error("CREATIVE_REJECTED", `the format needs an asset of type ${asset_type}`, at)] : [];
  const { max_duration_ms: longest } = (requirements ?? {}) as { max_duration_ms?: number };
  const tooLong = fitting.every(({ duration_ms }) => typeof duration_ms === "number" && duration_ms > Number(longest));
  return longest !== undefined && tooLong
    ? [error("CREATIVE_REJECTED", `it may last ${longest} ms at most`, `${at}.duration_ms`)]
    : [];
}

const error = (code: string, message: string, field: string): ProtocolError => ({
  code,
  message,
  field,
  recovery: "correctable",
});
