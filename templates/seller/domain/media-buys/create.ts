import { extra, type JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import { checks } from "../../checks.js";
import type { Call, Request } from "../../handler.js";
import { stated } from "../../stated.js";
import { type Account, spendingAccount } from "../accounts/accounts.js";
import { storeCreatives } from "../creatives/sync.js";
import { product } from "../products/products.js";
import { proposal } from "../products/proposals.js";
import { type MediaBuy, type Package, saveBuy, shownPackage, stateOf, validActions } from "./media-buy.js";
import { checkDates, type Flight, newPackage } from "./packages.js";

export type Wanted = Request<"create_media_buy">;
type WantedPackage = NonNullable<Wanted["packages"]>[number];

/** What may be in the past by the time a request arrives, in milliseconds. */
const START_SLACK_MS = 3_600_000;

/** An order that was looked through and may be booked. */
export interface Order {
  readonly account: Account;
  readonly packages: readonly Package[];
  readonly currency: string;
  readonly total: number;
  /** Impressions are promised, without a proposal behind it. */
  readonly guaranteed: boolean;
}

/**
 * Looks an order through; nothing is kept but an account that is new.
 * @throws ToolError for what cannot be booked
 */
export function checkOrder(call: Call, request: Wanted): Order {
  const account = spendingAccount(call, request.account);
  const flight = flightOf(call, request);
  const wanted = request.packages ?? proposedPackages(call, request);
  const packages = wanted.map((one, index) => newPackage(call, one, flight, `packages[${index}]`));
  const currencies = new Set(packages.map(({ currency }) => currency));
  if (currencies.size > 1)
    throw new ToolError("INVALID_REQUEST", "packages of one buy must have one currency", { field: "packages" });
  const total = packages.reduce((sum, { budget }) => sum + budget, 0);
  for (const check of checks)
    check(call, { tool: "create_media_buy", request, amount: total, accountId: account.account_id });
  return {
    account,
    packages,
    currency: [...currencies][0] ?? "USD",
    total,
    guaranteed: request.proposal_id === undefined && packages.some((one) => isReserved(call, one)),
  };
}

/** Impressions that are promised; what is sold by the unit is sold at the rate card, without an insertion order. */
function isReserved(call: Call, { product_id, pricing_option_id }: Package): boolean {
  const { delivery_type, pricing_options } = product(call, product_id, "packages");
  const option = pricing_options.find((one) => one.pricing_option_id === pricing_option_id);
  const byUnit = option?.pricing_model === "flat_rate" || option?.pricing_model === "time";
  return delivery_type === "guaranteed" && !byUnit;
}

function flightOf(call: Call, { start_time, end_time }: Wanted): Flight {
  const start = start_time === "asap" ? call.now.toISOString() : String(start_time);
  if (Date.parse(start) < call.now.getTime() - START_SLACK_MS)
    throw new ToolError("INVALID_REQUEST", `${start} has passed; give a later start_time, or asap`, {
      field: "start_time",
    });
  checkDates(start, end_time, "");
  return { start, end: end_time };
}

/** A proposal's shares of the money, as packages. */
function proposedPackages(call: Call, { proposal_id, total_budget }: Wanted): WantedPackage[] {
  if (proposal_id === undefined)
    throw new ToolError("INVALID_REQUEST", "give packages, or a proposal_id with total_budget", { field: "packages" });
  if (total_budget === undefined)
    throw new ToolError("INVALID_REQUEST", "a proposal is bought with a total_budget", { field: "total_budget" });
  const { allocations } = proposal(call, proposal_id, "proposal_id");
  return allocations.map(({ product_id, allocation_percentage, pricing_option_id }) => ({
    product_id,
    pricing_option_id:
      pricing_option_id ?? product(call, product_id, "proposal_id").pricing_options[0]?.pricing_option_id ?? "",
    budget: Math.round(total_budget.amount * allocation_percentage) / 100,
  })) as WantedPackage[];
}

const keptFields = [
  "plan_id",
  "po_number",
  "agency_estimate_number",
  "invoice_recipient",
  "reporting_webhook",
  "artifact_webhook",
  "proposal_id",
  "advertiser_industry",
] as const;

/** Books an order that was looked through: the buy exists from here on. */
export function book(call: Call, request: Wanted, order: Order): JsonObject {
  const { account, packages, currency } = order;
  const time = call.now.toISOString();
  const buy: MediaBuy = {
    media_buy_id: call.id("mb"),
    account_id: account.account_id,
    brand: { ...request.brand },
    currency,
    created_at: time,
    confirmed_at: time,
    updated_at: time,
    revision: 1,
    paused: false,
    packages,
    history: [{ revision: 1, timestamp: time, action: "created", summary: `${packages.length} packages` }],
    terms: Object.fromEntries(
      keptFields.flatMap((name) => {
        const value = extra(request, name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  };
  for (const { creatives } of request.packages ?? [])
    storeCreatives(call, account.account_id, (creatives ?? []) as never);
  saveBuy(call, buy);
  return shownAfterChange(call, buy, { packages: packages.map(shownPackage), confirmed_at: time });
}

/** What create and update answer with. */
export function shownAfterChange(call: Call, buy: MediaBuy, more: JsonObject): JsonObject {
  const state = stateOf(call, buy);
  return {
    media_buy_id: buy.media_buy_id,
    ...stated(call, "media_buy_status", state),
    revision: buy.revision,
    ...more,
    ...(buy.terms.invoice_recipient !== undefined && { invoice_recipient: buy.terms.invoice_recipient }),
    valid_actions: validActions(state),
  };
}
