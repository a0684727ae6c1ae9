import { createPropertyList as create } from "../domain/properties/lists.js";
import type { Handler } from "../handler.js";

/** Makes a list, and the token sellers fetch it with. */
export const createPropertyList: Handler<"create_property_list"> = (request, call) =>
  call.answer(create(call, request));
