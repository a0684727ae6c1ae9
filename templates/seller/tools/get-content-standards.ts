import { getStandards } from "../domain/standards/standards.js";
import type { Handler } from "../handler.js";

/** Shows standards. */
export const getContentStandards: Handler<"get_content_standards"> = (request, call) =>
  call.answer(getStandards(call, request));
