/** What the brand offers, before anybody has agreed to talk with it. */
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { BrandOffering } from "../ports/conversations.js";
import { boundedText } from "./sessions.js";
import { sponsoredContext } from "./sponsored.js";

interface Wanted {
  readonly offering_id: string;
  readonly intent?: string;
  readonly include_products?: boolean;
  readonly product_limit?: number;
}

/** What somebody was shown: "the second one" is said of it. */
export interface ShownOffering {
  readonly token: string;
  readonly offering_id: string;
  readonly products: readonly string[];
  readonly expires_at: string;
}

export const SHOWN_OFFERINGS = "si_offering_shown";
export const shownOfferings = collection<ShownOffering>(SHOWN_OFFERINGS);

/** How long what is said of an offering holds, in seconds: prices and stock change. */
const TTL_S = 900;

/** Products where the request does not say how many. */
const USUAL = 5;

/** @throws ToolError REFERENCE_NOT_FOUND */
export async function offeringOf(call: BehaviourCall, id: string): Promise<BrandOffering> {
  const found = await call.ports.conversations.offering(id, { principal: call.principal });
  if (found !== undefined) return found;
  const code = call.shapes.knowsError("REFERENCE_NOT_FOUND") ? "REFERENCE_NOT_FOUND" : "INVALID_REQUEST";
  throw new ToolError(code, "the brand has no such offering", { field: "offering_id" });
}

/** Why an offering cannot be had now. */
export function unavailability(
  { now }: BehaviourCall,
  { unavailable: why, expires_at }: BrandOffering,
): string | undefined {
  return expires_at !== undefined && Date.parse(expires_at) <= now.getTime() ? "expired" : why;
}

/** What is kept of an offering that was shown; undefined for a token that is not the caller's, or has lapsed. */
export async function shownBy(call: BehaviourCall, token: string): Promise<ShownOffering | undefined> {
  const found = await shownOfferings.get(call, call.principal, token);
  return found !== undefined && Date.parse(found.expires_at) > call.now.getTime() ? found : undefined;
}

const statuses: ReadonlySet<string> = new Set(["sold_out", "expired", "region_restricted", "inactive"]);

/** `si_get_offering`: what there is, for somebody who stays anonymous. */
export const getOffering: ToolBehaviour = async (request: Wanted, call) => {
  const intent = boundedText(request.intent, "intent");
  const offering = await offeringOf(call, request.offering_id);
  const why = unavailability(call, offering);
  const { unavailable: _, alternatives = [], ...shown } = offering;
  const all = why === undefined ? await call.ports.conversations.products(offering, intent) : [];
  const products = request.include_products === true ? all.slice(0, request.product_limit ?? USUAL) : [];
  const token = call.id("sio");
  if (why === undefined) {
    const expires = new Date(call.now.getTime() + TTL_S * 1_000).toISOString();
    const kept = { token, offering_id: offering.offering_id, expires_at: expires };
    const ids = products.map(({ product_id }) => product_id);
    shownOfferings.put(call, call.principal, token, { ...kept, products: ids });
  }
  const status = why === undefined ? "available" : statuses.has(why) ? why : undefined;
  return call.answer({
    available: why === undefined,
    ...(why === undefined && { offering_token: token }),
    ttl_seconds: TTL_S,
    checked_at: call.time,
    offering: { ...shown, ...(status !== undefined && { availability_status: status }) },
    ...(request.include_products === true && { matching_products: products, total_matching: all.length }),
    ...(why !== undefined && { unavailable_reason: why }),
    ...(why !== undefined && alternatives.length > 0 && { alternative_offering_ids: alternatives }),
    sponsored_context: sponsoredContext(call),
  });
};
