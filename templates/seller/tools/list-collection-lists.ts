import { listCollectionLists as list } from "../domain/collections/lists.js";
import type { Handler } from "../handler.js";

/** The caller's lists, a page at a time. */
export const listCollectionLists: Handler<"list_collection_lists"> = (request, call) =>
  call.answer(list(call, request));
