import { getPropertyList as get } from "../domain/properties/lists.js";
import type { Handler } from "../handler.js";

/** Shows a list and what it comes to now. */
export const getPropertyList: Handler<"get_property_list"> = (request, call) => call.answer(get(call, request));
