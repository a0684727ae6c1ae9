/** Where orders run. The default keeps them where the documents are, and delivers nothing by itself. */
import type { JsonObject } from "../../contract/index.js";
import type { Breakdown, BreakdownQuery } from "./breakdowns.js";
import type { DeliveryTime } from "./delivery-time.js";
import type { CallsUpstream } from "./upstream.js";

/** A creative on a line, and how it runs there. */
export interface CreativeAssignment {
  readonly creative_id: string;
  readonly weight?: number;
  /** Weighted where it is not said; one of a whole package. */
  readonly rotation_mode?: string;
  readonly group_id?: string;
  readonly sequence_position?: number;
  readonly placement_refs?: readonly { readonly publisher_domain?: string; readonly placement_id?: string }[];
  readonly placement_ids?: readonly string[];
}

/** One line of an order. */
export interface OrderLine {
  readonly packageId: string;
  readonly productId: string;
  readonly pricingOptionId: string;
  readonly budget: number;
  readonly currency: string;
  readonly bid?: number;
  /** ISO 8601. */
  readonly start: string;
  readonly end: string;
  readonly paused: boolean;
  readonly canceled: boolean;
  readonly creativeIds: readonly string[];
  /** The same, with how they take turns and where they run, as the buyer set it: weights, rotation, placements. */
  readonly assignments: readonly CreativeAssignment[];
  /** What the buyer set beside: targeting, pacing, goals. */
  readonly terms: JsonObject;
}

/** An order as the ad server is given it. */
export interface Order {
  readonly mediaBuyId: string;
  readonly principal: string;
  readonly accountId: string;
  readonly brand: JsonObject;
  readonly currency: string;
  readonly lines: readonly OrderLine[];
  /** What the buyer set for all of it: `daily_budget_cap`, `frequency_cap`, `pacing`, `bidding`. */
  readonly terms: JsonObject;
}

/** What every call of the ad server comes with: the key that makes it repeatable, and a signal that ends it. */
export interface AdServerCall {
  /** The same for every repetition of one wish: what was done under it is answered and not done again. */
  readonly idempotencyKey: string;
  /** Gives up waiting; what became of it is asked again, under the same key. */
  readonly signal: AbortSignal;
}

/** What was booked. */
export interface Booking {
  /** The ad server's own name of the order. */
  readonly orderId: string;
}

/** Totals of an order, or of a package, in the time asked for; since it began where none was. */
export interface DeliveredTotals {
  readonly impressions: number;
  readonly clicks: number;
  readonly spend: number;
  readonly conversions: number;
  /** Completed views, where there is something to view. */
  readonly views?: number;
}

/** Content beside which an advertisement ran, once. */
export interface ContentRecord {
  readonly record_id: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly package_id: string;
  /** As `content-standards/artifact.json` has it. */
  readonly artifact: JsonObject;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string;
  readonly channel?: string;
  /** What the seller's own model makes of it, where there is one. */
  readonly local_verdict?: "pass" | "fail";
}

/** What was kept of the content of an order: all of it, or a sample. */
export interface ContentRecords {
  /** Deliveries in the time asked for, those that nothing was kept of included. */
  readonly deliveries: number;
  /** Oldest first. */
  readonly records: readonly ContentRecord[];
}

/**
 * Whatever it throws but a `ToolError` leaves open what was done, and is tried again under the same key until there is an
 * answer; a `ToolError` is its refusal, which the buyer is told.
 */
export interface AdServer extends CallsUpstream {
  /** Its orders are kept where the documents are: nothing outside has to be told once and no more. */
  readonly remembers?: true;
  /**
   * How long one attempt to tell it something may take, in milliseconds, while a buyer waits: 10,000 by default. What it is asked
   * (`state`, `delivery`, `content`) is waited for as long as other ports are.
   */
  readonly patienceMs?: number;
  /**
   * Of what it never spends more in a day (UTC) than `daily_budget_cap` says: of a whole order, of one line. The seller declares
   * it, and refuses caps that are not kept; none is where it is left out.
   */
  readonly dailyCaps?: readonly ("media_buy" | "package")[];
  book(order: Order, call: AdServerCall): Promise<Booking>;
  /** The order as it is to be from now on: lines, dates, budgets, pauses and creatives. */
  change(booking: Booking, order: Order, call: AdServerCall): Promise<void>;
  pause(booking: Booking, order: Order, call: AdServerCall): Promise<void>;
  resume(booking: Booking, order: Order, call: AdServerCall): Promise<void>;
  cancel(booking: Booking, order: Order, call: AdServerCall): Promise<void>;
  /**
   * A state that only the ad server knows of: that the order is over, or was refused after it was booked; undefined while it goes
   * on. Asked about once a minute of each order that is not over here, by each process; what it says then is final. A buyer finds
   * the buy ended, and what it has not cost is bound no more under a plan that is kept here. What it throws changes nothing.
   */
  state?(booking: Booking): Promise<"completed" | "rejected" | undefined>;
  /** By package id. */
  delivery?(booking: Booking, time: DeliveryTime): Promise<Readonly<Record<string, DeliveredTotals>>>;
  /**
   * The same by place, device, creative and the like. Asked only of what the product promises (`supports_DIMENSION_breakdown` of its
   * `reporting_capabilities`); where it is left out, buyers are told that there is more than the no rows they get.
   */
  breakdown?(booking: Booking, query: BreakdownQuery & DeliveryTime): Promise<Breakdown>;
  /** The content that an order ran beside; from and before are ISO 8601. Nothing is kept where it is left out. */
  content?(
    booking: Booking,
    time: { readonly from?: string | undefined; readonly before?: string | undefined },
  ): Promise<ContentRecords>;
}

/** Takes every order. */
export const ownAdServer: AdServer = {
  remembers: true,
  // Nothing is spent.
  dailyCaps: ["media_buy", "package"],
  book: async (_, { idempotencyKey }) => ({ orderId: idempotencyKey }),
  change: async () => undefined,
  pause: async () => undefined,
  resume: async () => undefined,
  cancel: async () => undefined,
};
