import { createStandards } from "../domain/standards/standards.js";
import type { Handler } from "../handler.js";

/** Makes standards that content is judged by. */
export const createContentStandards: Handler<"create_content_standards"> = (request, call) =>
  call.answer(createStandards(call, request));
