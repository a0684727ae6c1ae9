import type { JsonObject } from "adbind/contract";
import type { Call } from "../../handler.js";
import { newAccount, saveAccount } from "../accounts/accounts.js";
import { ScenarioError, type Scenarios, textParam } from "../controller/scenario.js";
import { products } from "../products/products.js";
import { forceNextAnswer } from "./approval.js";
import { type BuyState, findBuy, type MediaBuy, saveBuy, stateOf, terminal } from "./media-buy.js";

const states: readonly string[] = [
  "pending_creatives",
  "pending_start",
  "active",
  "paused",
  "completed",
  "rejected",
  "canceled",
];

/** A rejection comes before a buy has run. */
const rejectable: ReadonlySet<BuyState> = new Set(["pending_creatives", "pending_start"]);

/** States of buys, what the next order is answered with, and what became of a task. */
export const scenarios: Scenarios = {
  force_media_buy_status(params, call) {
    const id = textParam(params, "media_buy_id");
    const status = textParam(params, "status");
    const buy = findBuy(call, id);
    if (buy === undefined) throw new ScenarioError("NOT_FOUND", `no media buy ${id}`);
    const previous = stateOf(call, buy);
    if (!states.includes(status))
      throw new ScenarioError("INVALID_PARAMS", `${status} is no state of a media buy`, previous);
    if (terminal.has(previous) || (status === "rejected" && !rejectable.has(previous)))
      throw new ScenarioError("INVALID_TRANSITION", `a media buy does not go from ${previous} to ${status}`, previous);
    const fixed = status as BuyState;
    const revision = buy.revision + 1;
    const timestamp = call.now.toISOString();
    const history = [...buy.history, { revision, timestamp, action: `forced_${status}` }];
    saveBuy(call, { ...buy, fixed, revision, updated_at: timestamp, history });
    return { previous_state: previous, current_state: status };
  },
  force_create_media_buy_arm(params, call) {
    const arm = textParam(params, "arm");
    if (arm !== "submitted" && arm !== "input-required")
      throw new ScenarioError("INVALID_PARAMS", "params.arm must be submitted or input-required");
    const task = arm === "submitted" ? { task_id: textParam(params, "task_id") } : {};
    const { message } = params as { message?: string };
    forceNextAnswer(call, { arm, ...task, ...(message !== undefined && { message }) });
    return { forced: { arm, ...task } };
  },
  seed_media_buy(params, call) {
    const id = textParam(params, "media_buy_id");
    const buy = seededBuy(id, (params.fixture ?? {}) as JsonObject, call);
    saveBuy(call, buy);
    return { message: `media buy ${id} is there` };
  },
};

/** A buy on the account of the call, in the state the fixture names, of the first product unless it says otherwise. */
function seededBuy(id: string, fixture: JsonObject, call: Call): MediaBuy {
  const account = newAccount(call, (call.ctx.account ?? fixture.account ?? {}) as never);
  saveAccount(call, account);
  const time = call.now.toISOString();
  const later = new Date(call.now.getTime() + 30 * 86_400_000).toISOString();
  const { packages, status, start_time, end_time, currency } = fixture as Record<string, never>;
  const [first] = products(call);
  const lines = (packages ?? [{}]) as JsonObject[];
  return {
    media_buy_id: id,
    account_id: account.account_id,
    brand: (account.brand ?? {}) as JsonObject,
    currency: currency ?? "USD",
    created_at: time,
    confirmed_at: time,
    updated_at: time,
    revision: 1,
    paused: false,
    ...(status !== undefined && states.includes(status) && { fixed: status as BuyState }),
    packages: lines.map((line, index) => ({
      package_id: `${id}_${index + 1}`,
      product_id: first?.product_id ?? "",
      pricing_option_id: first?.pricing_options[0]?.pricing_option_id ?? "",
      budget: 1000,
      currency: currency ?? "USD",
      start_time: start_time ?? time,
      end_time: end_time ?? later,
      paused: false,
      creative_assignments: [],
      ...line,
      terms: {},
    })),
    history: [{ revision: 1, timestamp: time, action: "created" }],
    terms: {},
  };
}
