import { deleteCollectionList as remove } from "../domain/collections/lists.js";
import type { Handler } from "../handler.js";

/** Removes a list. */
export const deleteCollectionList: Handler<"delete_collection_list"> = (request, call) =>
  call.answer(remove(call, request));
