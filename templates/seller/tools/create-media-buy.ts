import { answerOrder } from "../domain/media-buys/approval.js";
import type { Handler } from "../handler.js";

/** Books an order, or takes it for a signature. */
export const createMediaBuy: Handler<"create_media_buy"> = (request, call) => answerOrder(request, call);
