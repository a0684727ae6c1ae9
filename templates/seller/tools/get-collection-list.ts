import { getCollectionList as get } from "../domain/collections/lists.js";
import type { Handler } from "../handler.js";

/** Shows a list and what it comes to now. */
export const getCollectionList: Handler<"get_collection_list"> = (request, call) => call.answer(get(call, request));
