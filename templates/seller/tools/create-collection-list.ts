import { createCollectionList as create } from "../domain/collections/lists.js";
import type { Handler } from "../handler.js";

/** Makes a list, and the token sellers fetch it with. */
export const createCollectionList: Handler<"create_collection_list"> = (request, call) =>
  call.answer(create(call, request));
