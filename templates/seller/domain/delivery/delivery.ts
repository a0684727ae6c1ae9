/** What buys delivered. The figures come from an ad server; here they are documents that whoever counts writes. */
import type { Call } from "../../handler.js";
import { budgetOf, type MediaBuy, type Package } from "../media-buys/media-buy.js";

export interface Delivered {
  readonly impressions: number;
  readonly clicks: number;
  readonly spend: number;
  readonly conversions: number;
}

const KIND = "delivery";

export const nothing: Delivered = { impressions: 0, clicks: 0, spend: 0, conversions: 0 };

export const deliveredByBuy = (call: Call, { media_buy_id }: MediaBuy): Delivered =>
  call.documents.get<Delivered>(KIND, call.principal, media_buy_id) ?? nothing;

export const saveDelivered = (call: Call, { media_buy_id }: MediaBuy, delivered: Delivered): void =>
  call.documents.put(KIND, call.principal, media_buy_id, delivered);

/** A package's part of it, by its share of the budget. */
export function deliveredOf(call: Call, buy: MediaBuy, { budget, canceled }: Package): Delivered {
  const total = budgetOf(buy);
  const share = canceled === true || total === 0 ? 0 : budget / total;
  const { impressions, clicks, spend, conversions } = deliveredByBuy(call, buy);
  return {
    impressions: Math.round(impressions * share),
    clicks: Math.round(clicks * share),
    spend: Math.round(spend * share * 100) / 100,
    conversions: Math.round(conversions * share),
  };
}
