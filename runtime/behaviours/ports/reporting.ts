/** Figures that come from somewhere else than the ad server. */
import type { DeliveredTotals } from "./ad-server.js";
import type { Breakdown, BreakdownQuery } from "./breakdowns.js";
import type { DeliveryTime } from "./delivery-time.js";
import type { ConsumerStatement, FeedAccount, FeedPeriod, FeedReport, ReportFeed } from "./report-feeds.js";
import type { CallsUpstream } from "./upstream.js";

/** Whose delivery is asked for, of which packages and time. */
export interface DeliveryQuery extends DeliveryTime {
  readonly principal: string;
  readonly mediaBuyId: string;
  readonly packageIds: readonly string[];
}

/** What was delivered. Yours to answer. */
export interface Reporting extends CallsUpstream {
  /** Totals by package id; undefined where the ad server's hold. */
  delivery(query: DeliveryQuery): Promise<Readonly<Record<string, DeliveredTotals>> | undefined>;
  /** The same by place, device, creative and the like, as the ad server's `breakdown`; undefined where that one's hold. */
  breakdown?(query: DeliveryQuery & BreakdownQuery): Promise<Breakdown | undefined>;
  /** Feeds that every account may have, as capabilities name them. */
  readonly offered?: readonly ReportFeed[];
  /** Feeds of an account: a report of each is due for every period that ends. */
  feeds?(account: FeedAccount): Promise<readonly ReportFeed[]>;
  /** Told what a consumer made of a report, before it is written down; at least once. A `ToolError` refuses the statement. */
  consumerStatus?(statement: ConsumerStatement, account: FeedAccount): Promise<void>;
  /** What happened in a period; undefined where it is not known yet. It is asked for until it is known, and not again. */
  report?(feed: ReportFeed, period: FeedPeriod, account: FeedAccount): Promise<FeedReport | undefined>;
}

/** What the ad server says is what is reported. */
export const adServerReporting: Reporting = { delivery: async () => undefined };
