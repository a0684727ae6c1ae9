import { reportUsage as report } from "../domain/building/usage.js";
import type { Handler } from "../handler.js";

/** Takes what was used of creatives, for billing. */
export const reportUsage: Handler<"report_usage"> = (request, call) => call.answer(report(call, request));
