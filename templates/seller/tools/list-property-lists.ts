import { listPropertyLists as list } from "../domain/properties/lists.js";
import type { Handler } from "../handler.js";

/** The caller's lists, a page at a time. */
export const listPropertyLists: Handler<"list_property_lists"> = (request, call) => call.answer(list(call, request));
