/** Brands this agent speaks for: what they look and sound like. */
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";

/** A brand as kept: the fields of its identity are those of the wire. */
export interface Brand {
  readonly brand_id: string;
  readonly house: { readonly domain: string; readonly name: string };
  readonly names: readonly JsonObject[];
  /** Parts of the identity: logos, colors, tone and so on. */
  readonly identity: JsonObject;
  /** Parts that only partners get, outside this agent. */
  readonly withheld?: readonly string[];
}

/** The brand of an id, or of the domain of its house. */
export const brand = (call: Call, id: string): Brand | undefined =>
  call.documents.get<Brand>("brand", "", id) ??
  call.documents.list<Brand>("brand", "").find(({ house }) => house.domain === id);

/** `get_brand_identity`: the parts asked for, or all that are public. */
export function brandIdentity(call: Call, request: Request<"get_brand_identity">): JsonObject {
  const found = brand(call, request.brand_id);
  if (found === undefined) {
    throw new ToolError("BRAND_NOT_FOUND", "there is no such brand here", {
      field: "brand_id",
      recovery: "correctable",
    });
  }
  const { brand_id, house, names, identity, withheld = [] } = found;
  const wanted: readonly string[] = request.fields ?? Object.keys(identity);
  const shown = Object.entries(identity).filter(([part]) => wanted.includes(part) && !withheld.includes(part));
  const kept = withheld.filter((part) => wanted.includes(part));
  return {
    brand_id,
    house,
    names,
    ...Object.fromEntries(shown),
    ...(kept.length > 0 && { available_fields: kept }),
  };
}
