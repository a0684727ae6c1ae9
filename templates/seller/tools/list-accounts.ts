import { listAccounts as list } from "../domain/accounts/list.js";
import type { Handler } from "../handler.js";

/** The caller's accounts, a page at a time. */
export const listAccounts: Handler<"list_accounts"> = (request, call) => call.answer(list(call, request));
