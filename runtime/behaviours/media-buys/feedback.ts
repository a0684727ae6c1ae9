import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { buyOf } from "../buys/buys.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import { collection } from "../frame/collection.js";

interface Wanted extends JsonObject {
  readonly media_buy_id: string;
  readonly package_id?: string;
  readonly measurement_period: { readonly start: string; readonly end: string };
}

const kept = collection<JsonObject>("feedback");

/**
 * `provide_performance_feedback`: kept beside the buy, for whoever optimises it.
 * @throws ToolError MEDIA_BUY_NOT_FOUND, PACKAGE_NOT_FOUND, INVALID_REQUEST
 */
export const takeFeedback: ToolBehaviour = async (request: Wanted, call) => {
  const buy = await buyOf(call, request.media_buy_id);
  const { start, end } = request.measurement_period;
  if (Date.parse(end) < Date.parse(start))
    throw new ToolError("INVALID_REQUEST", "the period ends before it starts", { field: "measurement_period.end" });
  const { package_id } = request;
  if (package_id !== undefined && !buy.packages.some((one) => one.package_id === package_id))
    throw new ToolError("PACKAGE_NOT_FOUND", `no package ${package_id} in this media buy`, { field: "package_id" });
  const { idempotency_key: _, context: _context, ...feedback } = request;
  kept.put(call, { principal: call.principal, part: buy.media_buy_id }, call.id("fb"), feedback);
  return call.answer({ success: true });
};
