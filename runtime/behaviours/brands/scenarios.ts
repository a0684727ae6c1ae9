/** Licences that tests put there. */
import type { JsonObject } from "../../contract/index.js";
import { type Scenarios, textParam } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { releaseDays } from "./calendar.js";
import { type Grant, grants, licenceEnd, withCredentials } from "./grants.js";
import { findOffering } from "./offerings.js";

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

async function grantOf(call: BehaviourCall, id: string, fixture: JsonObject): Promise<Grant> {
  const offering = await findOffering(call, id);
  const option = text(fixture.pricing_option_id);
  const price = offering?.pricing.find(({ pricing_option_id }) => pricing_option_id === option) ?? offering?.pricing[0];
  const { start_date, end_date, impression_cap } = fixture as Partial<Grant["terms"]>;
  const given = Array.isArray(fixture.uses) ? (fixture.uses as string[]) : undefined;
  return {
    grant_id: id,
    offering_id: id,
    brand_id: text(fixture.brand_id) ?? offering?.brand_id ?? id,
    domain: new URL(call.agentUrl).hostname,
    buyer: { domain: text(fixture.buyer_domain) ?? "buyer.example" },
    description: "put there by a test",
    // A test that states no price is not about prices.
    terms: {
      pricing_option_id: option ?? price?.pricing_option_id ?? "seeded",
      amount: price?.price ?? 0,
      currency: price?.currency ?? "USD",
      uses: given ?? price?.uses ?? call.ports.brands.uses,
      ...(start_date !== undefined && { start_date }),
      ...(end_date !== undefined && { end_date }),
      ...(impression_cap !== undefined && { impression_cap }),
    },
    state: "granted",
    paused: fixture.paused === true,
    since: start_date ?? call.time.slice(0, 10),
    until: licenceEnd(call, end_date),
    credentials: [],
  };
}

export const brandScenarios: Scenarios = {
  async seed_rights_grant(params, call) {
    const id = textParam(params, "rights_id");
    const fixture = (params.fixture ?? {}) as JsonObject;
    const grant = await withCredentials(call, await grantOf(call, id, fixture));
    grants.put(call, call.principal, id, grant);
    return { message: `licence ${id} is there` };
  },
};

/** The days that the caller's licences hold are everybody's again. */
export async function resetGrants(call: BehaviourCall): Promise<void> {
  for (const { offering_id, grant_id } of await grants.list(call, call.principal))
    await releaseDays(call, offering_id, grant_id);
}
