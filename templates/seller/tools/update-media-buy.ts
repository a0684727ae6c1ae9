import { updateBuy } from "../domain/media-buys/update.js";
import type { Handler } from "../handler.js";

/** Changes a media buy: all of what is asked, or nothing. */
export const updateMediaBuy: Handler<"update_media_buy"> = (request, call) => call.answer(updateBuy(call, request));
