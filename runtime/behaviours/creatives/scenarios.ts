import type { JsonObject } from "../../contract/index.js";
import { saveCreative } from "../buys/impairments.js";
import { ScenarioError, type Scenarios, textParam } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import {
  type Creative,
  type CreativePrice,
  type CreativeState,
  creativeStates,
  EVERY_ACCOUNT,
  findCreative,
  nextCreativeStates,
} from "../library/creatives.js";
import { type CreativeReason, moveCreative, purgeCreative } from "./transition.js";

/** Prices as fixtures have them: a model and a rate. */
function pricesOf(prices: unknown): { pricing_options?: [CreativePrice, ...CreativePrice[]] } {
  const [first, ...more] = (Array.isArray(prices) ? prices : []).flatMap((one: JsonObject): CreativePrice[] => {
    const cpm = Number(one.cpm ?? one.rate);
    const { pricing_option_id: id, currency } = one;
    return typeof id === "string" && Number.isFinite(cpm)
      ? [{ pricing_option_id: id, model: "cpm", cpm, currency: String(currency ?? "USD") }]
      : [];
  });
  return first === undefined ? {} : { pricing_options: [first, ...more] };
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

async function creativeOrNone(call: BehaviourCall, id: string): Promise<Creative> {
  const found = await findCreative(call, id);
  if (found === undefined) throw new ScenarioError("NOT_FOUND", `no creative ${id}`);
  return found;
}

const reasonOf = ({ reason_code, reason_detail }: JsonObject): CreativeReason => ({
  code: textOf(reason_code),
  detail: textOf(reason_detail),
});

/** A creative as a fixture has it: what it is made of may stand in a manifest of its own. */
function seededCreative(call: BehaviourCall, id: string, fixture: JsonObject): Creative {
  const { manifest = {}, name, status, tags, pricing_options: prices, ...rest } = fixture as Record<string, never>;
  const {
    assets = {},
    format_id,
    ...own
  } = { ...(rest as JsonObject), ...(manifest as JsonObject) } as Record<string, never>;
  const more = own as JsonObject;
  const format = format_id ?? (more.format_kind === undefined ? { id: "display_300x250" } : undefined);
  const { time } = call;
  return {
    creative_id: id,
    account_id: EVERY_ACCOUNT,
    name: name ?? id,
    ...(format !== undefined && { format_id: { agent_url: call.agentUrl, ...(format as { id: string }) } }),
    assets,
    ...(tags !== undefined && { tags }),
    ...pricesOf(prices),
    status: status ?? "approved",
    created_date: time,
    updated_date: time,
    content: "",
    more,
  };
}

/**
 * `force_creative_status` reviews a creative, `force_creative_purge` destroys one, `seed_creative` puts one into the library of
 * every account.
 */
export const creativeScenarios: Scenarios = {
  async force_creative_status(params, call) {
    const found = await creativeOrNone(call, textParam(params, "creative_id"));
    const status = textParam(params, "status");
    if (!(creativeStates as readonly string[]).includes(status))
      throw new ScenarioError("INVALID_PARAMS", `${status} is no state of a creative`, found.status);
    const next = status as CreativeState;
    if (next !== found.status && !nextCreativeStates[found.status].includes(next))
      throw new ScenarioError(
        "INVALID_TRANSITION",
        `a creative does not go from ${found.status} to ${next}`,
        found.status,
      );
    await moveCreative(call, found, next, { ...reasonOf(params), rejection: textOf(params.rejection_reason) });
    return { previous_state: found.status, current_state: next };
  },
  async force_creative_purge(params, call) {
    const found = await creativeOrNone(call, textParam(params, "creative_id"));
    const kind = params.purge_kind ?? "soft";
    if (kind !== "soft" && kind !== "hard")
      throw new ScenarioError("INVALID_PARAMS", "params.purge_kind must be soft or hard", found.status);
    await purgeCreative(call, found, kind, reasonOf(params));
    return { previous_state: found.status, current_state: "purged" };
  },
  async seed_creative(params, call) {
    const id = textParam(params, "creative_id");
    await saveCreative(call, seededCreative(call, id, (params.fixture ?? {}) as JsonObject));
    return { message: `creative ${id} is there` };
  },
};
