import type { JsonObject } from "../../contract/index.js";
import { saveCreative } from "../buys/impairments.js";
import { ScenarioError, type Scenarios, textParam } from "../frame/behaviour.js";
import {
  type CreativePrice,
  type CreativeState,
  creativeStates,
  EVERY_ACCOUNT,
  findCreative,
  nextCreativeStates,
} from "../library/creatives.js";

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

/** `force_creative_status` reviews a creative; `seed_creative` puts one into the library of every account. */
export const creativeScenarios: Scenarios = {
  async force_creative_status(params, call) {
    const id = textParam(params, "creative_id");
    const status = textParam(params, "status");
    const kept = await findCreative(call, id);
    if (kept === undefined) throw new ScenarioError("NOT_FOUND", `no creative ${id}`);
    if (!(creativeStates as readonly string[]).includes(status))
      throw new ScenarioError("INVALID_PARAMS", `${status} is no state of a creative`, kept.status);
    const next = status as CreativeState;
    if (next !== kept.status && !nextCreativeStates[kept.status].includes(next))
      throw new ScenarioError(
        "INVALID_TRANSITION",
        `a creative does not go from ${kept.status} to ${next}`,
        kept.status,
      );
    const { rejection_reason: _, ...rest } = kept;
    const reason = params.rejection_reason;
    await saveCreative(call, {
      ...rest,
      status: next,
      updated_date: call.time,
      ...(typeof reason === "string" && { rejection_reason: reason }),
    });
    return { previous_state: kept.status, current_state: next };
  },
  async seed_creative(params, call) {
    const id = textParam(params, "creative_id");
    const fixture = (params.fixture ?? {}) as JsonObject;
    const { time } = call;
    const { name, format_id, assets, status, tags, pricing_options: prices } = fixture as Record<string, never>;
    await saveCreative(call, {
      creative_id: id,
      account_id: EVERY_ACCOUNT,
      name: name ?? id,
      format_id: { agent_url: call.agentUrl, ...((format_id ?? { id: "display_300x250" }) as { id: string }) },
      assets: assets ?? {},
      ...(tags !== undefined && { tags }),
      ...pricesOf(prices),
      status: status ?? "approved",
      created_date: time,
      updated_date: time,
      content: "",
    });
    return { message: `creative ${id} is there` };
  },
};
