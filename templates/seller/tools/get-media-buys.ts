import { listBuys } from "../domain/media-buys/list.js";
import type { Handler } from "../handler.js";

/** Media buys and the state they are in. */
export const getMediaBuys: Handler<"get_media_buys"> = (request, call) => call.answer(listBuys(call, request));
