import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { type AccountRef, findAccount, openAccount, saveAccount } from "../accounts/accounts.js";
import {
  type BuyState,
  buyState,
  findBuy,
  isBuyState,
  type MediaBuy,
  revised,
  saveBuy,
  terminalStates,
} from "../buys/buys.js";
import { ScenarioError, type Scenarios, textParam } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { forcedScenarios } from "../frame/forced.js";
import { productsOf } from "../products/products.js";
import type { Negotiated } from "../products/terms.js";
import { bookForcedOrder } from "./forced-order.js";
import { saveAgreement } from "./orders.js";

/** A rejection comes before a buy has run. */
const rejectable: ReadonlySet<BuyState> = new Set(["pending_creatives", "pending_start"]);

/** States of buys. */
export const buyScenarios: Scenarios = {
  async force_media_buy_status(params, call) {
    const id = textParam(params, "media_buy_id");
    const status = textParam(params, "status");
    const buy = await findBuy(call, id);
    if (buy === undefined) throw new ScenarioError("NOT_FOUND", `no media buy ${id}`);
    const previous = await buyState(call, buy);
    if (!isBuyState(status))
      throw new ScenarioError("INVALID_PARAMS", `${status} is no state of a media buy`, previous);
    if (terminalStates.has(previous) || (status === "rejected" && !rejectable.has(previous)))
      throw new ScenarioError("INVALID_TRANSITION", `a media buy does not go from ${previous} to ${status}`, previous);
    const { rejection_reason: reason } = params;
    const forced = { ...buy, fixed: status, ...(typeof reason === "string" && { rejection_reason: reason }) };
    await saveBuy(call, revised(forced, call.time, [{ action: `forced_${status}` }]));
    return { previous_state: previous, current_state: status };
  },
  async force_task_completion(params, call) {
    const said = await forcedScenarios.force_task_completion(params, call);
    await bookForcedOrder(call, textParam(params, "task_id"), params.result as JsonObject);
    return said;
  },
  async seed_media_buy(params, call) {
    const id = textParam(params, "media_buy_id");
    const buy = await seededBuy(id, (params.fixture ?? {}) as JsonObject, call);
    saveAgreement(call, buy);
    await saveBuy(call, buy);
    return { message: `media buy ${id} is there` };
  },
};

/** Creatives on a line: a fixture names them, or says more of each. */
const assignmentsIn = ({ creative_assignments: all }: JsonObject): { readonly creative_id: string }[] =>
  (Array.isArray(all) ? all : []).map((one: string | { readonly creative_id: string }) =>
    typeof one === "string" ? { creative_id: one } : one,
  );

/** The agreement that a fixture says a buy came of, as it is kept. */
function agreementIn(
  { accepted_proposal: given }: JsonObject,
  call: BehaviourCall,
): { readonly accepted?: Negotiated } {
  if (!isJsonObject(given)) return {};
  const { proposal_kind: _k, proposal_status: _s, ...one } = given;
  return { accepted: { expires_at: call.time, ...one, state: "accepted" } as unknown as Negotiated };
}

/** A buy on the account of the call, in the state the fixture names, of the first product unless it says otherwise. */
async function seededBuy(id: string, fixture: JsonObject, call: BehaviourCall): Promise<MediaBuy> {
  const opened = await openAccount(call, (call.ctx.account ?? fixture.account ?? {}) as AccountRef);
  const account = (await findAccount(call, opened.account_id)) ?? opened;
  saveAccount(call, account);
  const { time } = call;
  const later = new Date(call.now.getTime() + 30 * 86_400_000).toISOString();
  const {
    packages,
    status,
    start_time,
    end_time,
    currency = "USD",
  } = fixture as Record<string, never> & {
    currency?: string;
  };
  const [first] = await productsOf(call);
  const lines = (packages ?? [{}]) as JsonObject[];
  return {
    media_buy_id: id,
    account_id: account.account_id,
    brand: (account.brand ?? {}) as JsonObject,
    currency,
    created_at: time,
    confirmed_at: time,
    updated_at: time,
    revision: 1,
    paused: false,
    ...(isBuyState(status) && { fixed: status }),
    ...agreementIn(fixture, call),
    packages: lines.map((line, index) => ({
      package_id: `${id}_${index + 1}`,
      // A fixture that says what is in the buy says all of it.
      product_id: packages === undefined ? (first?.product_id ?? "") : "",
      pricing_option_id: packages === undefined ? (first?.pricing_options[0]?.pricing_option_id ?? "") : "",
      budget: 1000,
      currency,
      start_time: start_time ?? time,
      end_time: end_time ?? later,
      paused: false,
      ...line,
      creative_assignments: assignmentsIn(line),
      terms: {},
    })),
    history: [{ revision: 1, timestamp: time, action: "created" }],
    terms: {},
  };
}
