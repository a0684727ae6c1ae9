import { validateContentDelivery as validate } from "../domain/standards/judge.js";
import type { Handler } from "../handler.js";

/** Judges what was delivered. */
export const validateContentDelivery: Handler<"validate_content_delivery"> = (request, call) =>
  call.answer(validate(call, request));
