import { deletePropertyList as remove } from "../domain/properties/lists.js";
import type { Handler } from "../handler.js";

/** Removes a list. */
export const deletePropertyList: Handler<"delete_property_list"> = (request, call) =>
  call.answer(remove(call, request));
