import { reportDelivery } from "../domain/delivery/report.js";
import type { Handler } from "../handler.js";

/** What media buys delivered. */
export const getMediaBuyDelivery: Handler<"get_media_buy_delivery"> = (request, call) =>
  call.answer(reportDelivery(call, request));
