import type { JsonObject } from "../../contract/index.js";
import { type AccountRef, findAccount, shownAccount } from "../accounts/accounts.js";
import {
  actionsIn,
  type BuyPackage,
  type BuyState,
  budgetOf,
  buyState,
  buysOf,
  endOf,
  type MediaBuy,
  shownBuyPackage,
  startOf,
  terminalStates,
} from "../buys/buys.js";
import { deliveredByPackage } from "../delivery/delivered.js";
import { nothing } from "../delivery/simulated.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { listPage, PAGE_SIZE, type PageWanted } from "../frame/page.js";
import { creativeFor } from "../library/creatives.js";
import { capDay } from "./caps.js";
import { actionsByTask, availableActions, shownAgreement } from "./shown.js";

interface Wanted {
  readonly account?: AccountRef;
  readonly media_buy_ids?: readonly string[];
  readonly status_filter?: string | readonly string[];
  readonly pagination?: PageWanted;
  readonly include_history?: number;
  readonly include_snapshot?: boolean;
}

/** `get_media_buys`: those named, or all in the states asked for; what is not there is told in `errors`. */
export const listMediaBuys: ToolBehaviour = async (request: Wanted, call) => {
  const { account, media_buy_ids: wanted, status_filter: filter } = request;
  const own = await buysOf(call, { account, ids: wanted });
  const states = filter === undefined ? undefined : new Set<string>([filter].flat());
  const stated = await Promise.all(own.map(async (buy) => ({ buy, state: await buyState(call, buy) })));
  const listed = ({ state }: { state: BuyState }): boolean =>
    (states === undefined || states.has(state)) &&
    // Without a filter, what is over is left out: it is asked for by id or by state.
    (wanted !== undefined || states !== undefined || !terminalStates.has(state));
  const known = new Set(own.map(({ media_buy_id }) => media_buy_id));
  const missing = (wanted ?? []).filter((id) => !known.has(id));
  const { items, pagination } = listPage(stated, request.pagination, ({ buy }) => buy.media_buy_id, {
    ...PAGE_SIZE,
    listed,
  });
  return call.answer({
    media_buys: await Promise.all(items.map((one) => shown(call, one, request))),
    pagination,
    ...(missing.length > 0 && {
      errors: missing.map(() => ({ code: "MEDIA_BUY_NOT_FOUND", message: "there is no such media buy" })),
    }),
  });
};

async function shown(
  call: BehaviourCall,
  { buy, state }: { buy: MediaBuy; state: BuyState },
  { include_history, include_snapshot }: Wanted,
): Promise<JsonObject> {
  const owner = await findAccount(call, buy.account_id);
  const {
    history,
    impairments = [],
    terms,
    brand: _b,
    booking: _k,
    fixed: _f,
    account_id: _a,
    accepted: _p,
    reporting_timezone: _z,
    ...rest
  } = buy;
  const shape = call.shapes.answer("get_media_buys");
  const byTask = buy.accepted !== undefined && shape.has("media_buys", "*", "available_actions", "*", "task");
  const { governance_agents: _, ...account } = (owner === undefined ? {} : shownAccount(owner)) as JsonObject;
  return {
    ...terms,
    ...rest,
    ...capDay(call, buy),
    ...shownAgreement(call, buy),
    ...(owner !== undefined && { account }),
    status: state,
    status_as_of: call.time,
    total_budget: budgetOf(buy),
    start_time: startOf(buy),
    end_time: endOf(buy),
    valid_actions: actionsIn(state),
    available_actions: byTask ? await actionsByTask(call, buy, state) : await availableActions(call, buy, state),
    health: impairments.length > 0 ? "impaired" : "ok",
    impairments,
    ...(include_history !== undefined && { history: history.slice(-include_history).reverse() }),
    packages: await Promise.all(
      buy.packages.map((one) => shownLine(call, { buy, state, one }, include_snapshot === true)),
    ),
  };
}

interface Line {
  readonly buy: MediaBuy;
  readonly state: BuyState;
  readonly one: BuyPackage;
}

/** A package with what became of its creatives, and what it delivered so far. */
async function shownLine(call: BehaviourCall, line: Line, snapshot: boolean): Promise<JsonObject> {
  const { one, buy } = line;
  const approvals: JsonObject[] = [];
  for (const { creative_id } of one.creative_assignments) {
    const found = await creativeFor(call, creative_id, buy.account_id);
    if (found === undefined) continue;
    const decided = found.status === "approved" || found.status === "rejected";
    approvals.push({
      creative_id,
      approval_status: decided ? found.status : "pending_review",
      ...(found.rejection_reason !== undefined && { rejection_reason: found.rejection_reason }),
    });
  }
  return {
    ...shownBuyPackage(one),
    ...(approvals.length > 0 && { creative_approvals: approvals }),
    ...(snapshot && { snapshot: await snapshotOf(call, line) }),
  };
}

async function snapshotOf(call: BehaviourCall, { buy, state, one }: Line): Promise<JsonObject> {
  const delivered = (await deliveredByPackage(call, buy)).get(one.package_id) ?? nothing;
  const { impressions, clicks, spend } = delivered;
  const running = state === "active" && !one.paused;
  return {
    as_of: call.time,
    impressions,
    clicks,
    spend,
    currency: one.currency,
    staleness_seconds: 900,
    delivery_status: running ? "delivering" : "not_delivering",
  };
}
