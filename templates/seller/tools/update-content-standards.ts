import { updateStandards } from "../domain/standards/standards.js";
import type { Handler } from "../handler.js";

/** Changes standards, part by part. */
export const updateContentStandards: Handler<"update_content_standards"> = (request, call) =>
  call.answer(updateStandards(call, request));
