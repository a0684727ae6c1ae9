/** Brands this agent speaks for: which there are, and what they look and sound like. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { OwnBrand } from "../ports/brands.js";

export const knownBrands = (call: BehaviourCall): Promise<readonly OwnBrand[]> =>
  call.once("brands", () => call.ports.brands.brands({ principal: call.principal }));

/** The brand of an id, or of the domain of its house. */
export async function findBrand(call: BehaviourCall, id: string): Promise<OwnBrand | undefined> {
  const all = await knownBrands(call);
  return all.find(({ brand_id }) => brand_id === id) ?? all.find(({ house }) => house.domain === id);
}

/** `get_brand_identity`: the parts asked for, or all that are public. */
export const brandIdentity: ToolBehaviour = async (
  request: { readonly brand_id: string; readonly fields?: readonly string[] },
  call,
) => {
  const found = await findBrand(call, request.brand_id);
  if (found === undefined)
    throw new ToolError("REFERENCE_NOT_FOUND", "there is no such brand here", { field: "brand_id" });
  const { brand_id, house, names, identity, withheld = [] } = found;
  const wanted: readonly string[] = request.fields ?? Object.keys(identity);
  const shown = Object.entries(identity).filter(([part]) => wanted.includes(part) && !withheld.includes(part));
  const kept = withheld.filter((part) => wanted.includes(part));
  const parts: JsonObject = Object.fromEntries(shown);
  return call.answer({ brand_id, house, names, ...parts, ...(kept.length > 0 && { available_fields: kept }) });
};
