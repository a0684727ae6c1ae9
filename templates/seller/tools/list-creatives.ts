import { listLibrary } from "../domain/creatives/list.js";
import type { Handler } from "../handler.js";

/** The account's creatives. */
export const listCreatives: Handler<"list_creatives"> = (request, call) => call.answer(listLibrary(call, request));
