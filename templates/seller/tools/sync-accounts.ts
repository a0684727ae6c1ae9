import { syncAccounts as sync } from "../domain/accounts/sync.js";
import type { Handler } from "../handler.js";

/** Makes accounts, or brings them up to date. */
export const syncAccounts: Handler<"sync_accounts"> = (request, call) => call.answer(sync(call, request));
