import { syncPlans as sync } from "../domain/governance/plans.js";
import type { Handler } from "../handler.js";

/** Registers campaign plans. */
export const syncPlans: Handler<"sync_plans"> = (request, call) => call.answer(sync(call, request));
