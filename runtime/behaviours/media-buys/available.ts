/** What an order takes is asked for before it is sold: of a change, what it takes beside what it has. */
import { ToolError } from "../../seller/tool-error.js";
import { type BuyPackage, isLivePackage } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import { summed } from "../frame/currency.js";
import type { AvailabilityQuery } from "../ports/catalogue.js";
import { productOf, queryOf } from "../products/products.js";

type Flight = Pick<AvailabilityQuery, "product" | "budget" | "start" | "end">;

/** @throws ToolError PRODUCT_UNAVAILABLE */
export async function checkAvailable(call: BehaviourCall, flight: Flight, field: string): Promise<void> {
  const reason = await call.ports.catalogue.unavailable?.({ ...queryOf(call), ...flight });
  if (reason !== undefined) throw new ToolError("PRODUCT_UNAVAILABLE", reason, { field });
}

type Grown = "start_time" | "end_time" | "budget";

/** Days before, days after, and money for all of them. */
function grown(before: BuyPackage, after: BuyPackage): (readonly [name: Grown, flight: Omit<Flight, "product">])[] {
  const { start_time: start, end_time: end, budget } = after;
  const earlier = Date.parse(start) < Date.parse(before.start_time);
  const later = Date.parse(end) > Date.parse(before.end_time);
  const parts = [
    earlier && (["start_time", { start, end: before.start_time, budget }] as const),
    later && (["end_time", { start: before.end_time, end, budget }] as const),
    budget > before.budget && (["budget", { start, end, budget: summed([budget, -before.budget]) }] as const),
  ];
  return parts.filter((one) => one !== false);
}

/**
 * @param fieldOf where the request says what has grown
 * @throws ToolError PRODUCT_UNAVAILABLE, and PRODUCT_NOT_FOUND for more of what is sold no more
 */
export async function checkGrowth(
  call: BehaviourCall,
  { before, after }: { readonly before: BuyPackage; readonly after: BuyPackage },
  fieldOf: (name: Grown) => string,
): Promise<void> {
  // What was booked before there were products has none.
  if (call.ports.catalogue.unavailable === undefined || !isLivePackage(after) || after.product_id === "") return;
  for (const [name, flight] of grown(before, after)) {
    const field = fieldOf(name);
    await checkAvailable(call, { product: await productOf(call, after.product_id, field), ...flight }, field);
  }
}
