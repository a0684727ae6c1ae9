import { syncAudiences as sync } from "../domain/audiences/audiences.js";
import type { Handler } from "../handler.js";

/** Audiences and their members. */
export const syncAudiences: Handler<"sync_audiences"> = (request, call) => call.answer(sync(call, request));
