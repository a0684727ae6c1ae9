/** Manifests by their canonical formats. */
import { canonicalKind, slotNames } from "../formats/options.js";
import type { BehaviourCall } from "../frame/call.js";
import { type CreativeManifest, knownFormat } from "../previews/manifest.js";
import { capabilityIn } from "./capability.js";
import type { Build } from "./targets.js";

/** Who names what is built by its canonical format is answered by that. */
export function isCanonical({ shapes }: BehaviourCall, request: Build): boolean {
  const { target_format_id: one, target_format_ids: many = [], creative_manifest: given } = request;
  const targets = one === undefined ? many : [one, ...many];
  return (
    request.target_capability_id !== undefined ||
    request.target_capability_ids !== undefined ||
    targets.some(({ id }) => capabilityIn(shapes, id) !== undefined) ||
    given?.format_kind !== undefined
  );
}

/** A manifest by its canonical format, with its assets in the slots of that. */
export async function canonical(
  call: BehaviourCall,
  { format_id, assets }: CreativeManifest,
): Promise<CreativeManifest> {
  const of = format_id === undefined ? undefined : await knownFormat(call, format_id, "creative_manifest");
  const kind = of === undefined ? "image" : canonicalKind(of);
  const given = Object.entries(assets).map(([asset_id, { asset_type }]) => ({ asset_id, asset_type }));
  const names = slotNames(given, call.shapes.canonical(kind));
  const placed = Object.entries(assets).map(([name, asset]) => [names.get(name) ?? name, asset]);
  return { format_kind: kind, assets: Object.fromEntries(placed) };
}
