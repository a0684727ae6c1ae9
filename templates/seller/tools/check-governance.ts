import { checkGovernance as check } from "../domain/governance/check.js";
import type { Handler } from "../handler.js";

/** Judges an action against its plan. */
export const checkGovernance: Handler<"check_governance"> = (request, call) => call.answer(check(call, request));
