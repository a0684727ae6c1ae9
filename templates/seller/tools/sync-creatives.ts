import { syncCreativeLibrary } from "../domain/creatives/sync.js";
import type { Handler } from "../handler.js";

/** Creatives into the account's library, and onto packages. */
export const syncCreatives: Handler<"sync_creatives"> = (request, call) =>
  call.answer(syncCreativeLibrary(call, request));
