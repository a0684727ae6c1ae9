import { creativeDelivery } from "../domain/building/delivery.js";
import type { Handler } from "../handler.js";

/** What was served of creatives. */
export const getCreativeDelivery: Handler<"get_creative_delivery"> = (request, call) =>
  call.answer(creativeDelivery(call, request));
