/** Creatives as they travel: a format, and assets by name. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { formatsOf } from "../formats/formats.js";
import type { BehaviourCall } from "../frame/call.js";
import { unsupported } from "../frame/invalid.js";
import type { CreativeAssets, CreativeFormat, Dimensions, FormatId } from "../ports/creatives.js";

export interface ManifestAsset extends JsonObject {
  readonly asset_type?: string;
}

export interface CreativeManifest {
  readonly format_id?: FormatId;
  readonly format_kind?: string;
  readonly assets: { readonly [name: string]: ManifestAsset };
}

/** Of repeated assets, the first. */
export const firstAssets = (assets: CreativeAssets): CreativeManifest["assets"] =>
  Object.fromEntries(
    Object.entries(assets).flatMap(([name, one]) => {
      const [first] = [one].flat() as ManifestAsset[];
      return first === undefined ? [] : [[name, first]];
    }),
  );

/**
 * The format an id names. Its address is not compared: formats move between agents, and keep their names.
 * @throws ToolError REFERENCE_NOT_FOUND
 */
export async function knownFormat(
  call: BehaviourCall,
  { id }: { readonly id: string },
  field: string,
): Promise<CreativeFormat> {
  const found = (await formatsOf(call)).get(id);
  if (found !== undefined) return found;
  throw new ToolError(unsupported(call), "there is no such format here", { field });
}

/** Size where a format does not say. */
const DEFAULT_SIZE: Dimensions = { width: 640, height: 360 };

export const sizeOf = ({ renders }: CreativeFormat): Dimensions =>
  renders?.find(({ dimensions }) => dimensions !== undefined)?.dimensions ?? DEFAULT_SIZE;

/** Types of assets a format is made of. */
export const assetTypesOf = ({ assets = [] }: CreativeFormat): Set<string> =>
  new Set(assets.map(({ asset_type }) => asset_type));

/** What a format needs and the manifest has not, by the names of the format's assets. */
export function missingAssets(of: CreativeFormat, { assets }: CreativeManifest): string[] {
  const given = new Set(Object.values(assets).map(({ asset_type }) => asset_type));
  return (of.assets ?? [])
    .filter(
      ({ required, asset_type, asset_id }) => required && !given.has(asset_type) && !Object.hasOwn(assets, asset_id),
    )
    .map(({ asset_id }) => asset_id);
}
