import { updatePropertyList as update } from "../domain/properties/lists.js";
import type { Handler } from "../handler.js";

/** Changes a list; who follows it is told. */
export const updatePropertyList: Handler<"update_property_list"> = (request, call) =>
  call.answer(update(call, request));
