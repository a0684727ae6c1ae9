/** Figures that come from somewhere else than the ad server. */
import type { DeliveredTotals } from "./ad-server.js";
import type { CallsUpstream } from "./upstream.js";

export interface DeliveryQuery {
  readonly principal: string;
  readonly mediaBuyId: string;
  readonly packageIds: readonly string[];
  /** Days, `YYYY-MM-DD`: the first is part of it, the last is not. */
  readonly from?: string | undefined;
  readonly before?: string | undefined;
}

export interface Reporting extends CallsUpstream {
  /** Totals by package id; undefined where the ad server's hold. */
  delivery(query: DeliveryQuery): Promise<Readonly<Record<string, DeliveredTotals>> | undefined>;
}

/** What the ad server says is what is reported. */
export const adServerReporting: Reporting = { delivery: async () => undefined };
