import { listFormats } from "../domain/formats/list.js";
import type { Handler } from "../handler.js";

/** Creative formats this seller takes. */
export const listCreativeFormats: Handler<"list_creative_formats"> = (request, call) =>
  call.answer(listFormats(call, request));
