import { syncGovernance as sync } from "../domain/accounts/governance.js";
import type { Handler } from "../handler.js";

/** Registers who is to be asked before an account's money is spent. */
export const syncGovernance: Handler<"sync_governance"> = (request, call) => call.answer(sync(call, request));
