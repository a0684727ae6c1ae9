import type { ReportMaker } from "../../handler.js";
import { findBuy } from "../media-buys/media-buy.js";
import { deliveryOf } from "./report.js";

/** What `get_media_buy_delivery` says of the buy, as it is when the report is due. */
export const reports: ReportMaker = (call, { mediaBuyId }) => {
  const buy = findBuy(call, mediaBuyId);
  return buy === undefined
    ? undefined
    : { currency: buy.currency, media_buy_deliveries: [deliveryOf(call, buy, false)] };
};
