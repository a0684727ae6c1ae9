import { updateCollectionList as update } from "../domain/collections/lists.js";
import type { Handler } from "../handler.js";

/** Changes a list; who follows it is told. */
export const updateCollectionList: Handler<"update_collection_list"> = (request, call) =>
  call.answer(update(call, request));
