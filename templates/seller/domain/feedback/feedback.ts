import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { buyOf } from "../media-buys/media-buy.js";

/**
 * `provide_performance_feedback`: kept beside the buy, for whoever optimises it.
 * @throws ToolError MEDIA_BUY_NOT_FOUND, PACKAGE_NOT_FOUND, INVALID_REQUEST
 */
export function takeFeedback(call: Call, request: Request<"provide_performance_feedback">): JsonObject {
  const buy = buyOf(call, request.media_buy_id);
  const { start, end } = request.measurement_period;
  if (Date.parse(end) < Date.parse(start))
    throw new ToolError("INVALID_REQUEST", "the period ends before it starts", { field: "measurement_period.end" });
  const { package_id } = request;
  if (package_id !== undefined && !buy.packages.some((one) => one.package_id === package_id))
    throw new ToolError("PACKAGE_NOT_FOUND", `no package ${package_id} in this media buy`, { field: "package_id" });
  const { idempotency_key: _, context: _context, ...feedback } = request;
  call.documents.put("feedback", `${call.principal}/${buy.media_buy_id}`, call.id("fb"), feedback);
  return { success: true };
}
