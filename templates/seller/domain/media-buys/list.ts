import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { page } from "../../page.js";
import { account } from "../accounts/accounts.js";
import { creative } from "../creatives/creatives.js";
import { deliveredOf } from "../delivery/delivery.js";
import {
  budgetOf,
  buysOf,
  endOf,
  type MediaBuy,
  type Package,
  shownPackage,
  startOf,
  stateOf,
  terminal,
  validActions,
} from "./media-buy.js";

type Wanted = Request<"get_media_buys">;

/** `get_media_buys`: those named, or all in the states asked for; what is not there is told in `errors`. */
export function listBuys(call: Call, request: Wanted): JsonObject {
  const wanted = request.media_buy_ids as readonly string[] | undefined;
  const own = buysOf(call, { account: request.account, ids: wanted });
  const states = request.status_filter === undefined ? undefined : new Set([request.status_filter].flat() as string[]);
  const fitting = own.filter(
    (buy) =>
      (states === undefined || states.has(stateOf(call, buy))) &&
      // Without a filter, what is over is left out: it is asked for by id or by state.
      (wanted !== undefined || states !== undefined || !terminal.has(stateOf(call, buy))),
  );
  const known = new Set(own.map(({ media_buy_id }) => media_buy_id));
  const missing = (wanted ?? []).filter((id) => !known.has(id));
  const { items, pagination } = page(fitting, request.pagination, ({ media_buy_id }) => media_buy_id);
  return {
    media_buys: items.map((buy) => shown(call, buy, request)),
    pagination,
    ...(missing.length > 0 && {
      errors: missing.map(() => ({ code: "MEDIA_BUY_NOT_FOUND", message: "there is no such media buy" })),
    }),
  };
}

function shown(call: Call, buy: MediaBuy, { include_history, include_snapshot }: Wanted): JsonObject {
  const state = stateOf(call, buy);
  const owner = account(call, buy.account_id);
  const {
    media_buy_id,
    currency,
    created_at,
    updated_at,
    confirmed_at,
    revision,
    cancellation,
    history,
    impairments = [],
  } = buy;
  const { governance_agents: _, ...shownAccount } = owner ?? {};
  return {
    media_buy_id,
    ...(owner !== undefined && { account: shownAccount }),
    status: state,
    currency,
    total_budget: budgetOf(buy),
    start_time: startOf(buy),
    end_time: endOf(buy),
    created_at,
    updated_at,
    confirmed_at,
    revision,
    ...(cancellation !== undefined && { cancellation }),
    ...(buy.terms.invoice_recipient !== undefined && { invoice_recipient: buy.terms.invoice_recipient }),
    valid_actions: validActions(state),
    ...(impairments.length > 0 && { health: "impaired", impairments }),
    ...(include_history !== undefined && { history: history.slice(-include_history).reverse() }),
    packages: buy.packages.map((one) => shownLine(call, buy, one, include_snapshot === true)),
  };
}

/** A package with what became of its creatives, and what it delivered so far. */
function shownLine(call: Call, buy: MediaBuy, one: Package, snapshot: boolean): JsonObject {
  const approvals = one.creative_assignments.flatMap(({ creative_id }) => {
    const found = creative(call, creative_id);
    if (found === undefined) return [];
    const approval = found.status === "approved" || found.status === "rejected" ? found.status : "pending_review";
    return {
      creative_id,
      approval_status: approval,
      ...(found.rejection_reason !== undefined && { rejection_reason: found.rejection_reason }),
    };
  });
  return {
    ...shownPackage(one),
    currency: one.currency,
    ...(approvals.length > 0 && { creative_approvals: approvals }),
    ...(snapshot && { snapshot: snapshotOf(call, buy, one) }),
  };
}

function snapshotOf(call: Call, buy: MediaBuy, one: Package): JsonObject {
  const { impressions, clicks, spend } = deliveredOf(call, buy, one);
  const running = stateOf(call, buy) === "active" && !one.paused;
  return {
    as_of: call.now.toISOString(),
    impressions,
    clicks,
    spend,
    currency: one.currency,
    staleness_seconds: 900,
    delivery_status: running ? "delivering" : "not_delivering",
  };
}
