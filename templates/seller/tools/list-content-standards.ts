import { listStandards } from "../domain/standards/standards.js";
import type { Handler } from "../handler.js";

/** The caller's standards, a page at a time. */
export const listContentStandards: Handler<"list_content_standards"> = (request, call) =>
  call.answer(listStandards(call, request));
