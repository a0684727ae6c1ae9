/** Creatives as they travel: a format, and assets by name. */
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call } from "../../handler.js";
import { type Dimensions, type Format, type FormatId, format } from "../formats/formats.js";

export interface Asset extends JsonObject {
  readonly asset_type?: string;
}

export interface Manifest {
  readonly format_id: FormatId;
  readonly assets: { readonly [name: string]: Asset };
}

/**
 * The format an id names. Its address is not compared: formats move between agents, and keep their names.
 * @throws ToolError REFERENCE_NOT_FOUND
 */
export function knownFormat(call: Call, { id }: { readonly id: string }, field: string): Format {
  const found = format(call, id);
  if (found !== undefined) return found;
  throw new ToolError("REFERENCE_NOT_FOUND", "there is no such format; list_creative_formats has them", { field });
}

/** Size where a format does not say. */
const DEFAULT_SIZE: Dimensions = { width: 640, height: 360 };

export const sizeOf = ({ renders }: Format): Dimensions =>
  renders?.find(({ dimensions }) => dimensions !== undefined)?.dimensions ?? DEFAULT_SIZE;

/** Types of assets a format is made of. */
export const typesOf = ({ assets = [] }: Format): Set<string> => new Set(assets.map(({ asset_type }) => asset_type));

/** What a format needs and the manifest has not, by the names of the format's assets. */
export function missing(of: Format, { assets }: Manifest): string[] {
  const given = new Set(Object.values(assets).map(({ asset_type }) => asset_type));
  return (of.assets ?? [])
    .filter(
      ({ required, asset_type, asset_id }) => required && !given.has(asset_type) && !Object.hasOwn(assets, asset_id),
    )
    .map(({ asset_id }) => asset_id);
}
