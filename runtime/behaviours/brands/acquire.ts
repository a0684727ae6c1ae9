/** `acquire_rights`: a licence for a campaign, or the reason why there is none. */
import type { JsonObject } from "../../contract/index.js";
import { AdbindError } from "../../errors.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, spendingAccount } from "../accounts/accounts.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { repetitionOf } from "../frame/repetition.js";
import type { Account } from "../ports/accounts.js";
import type { LicenceDecision, RightsOffering, RightsPrice } from "../ports/brands.js";
import { findBrand } from "./brands.js";
import { holdDays } from "./calendar.js";
import { licenceCost } from "./cost.js";
import { nobodysMoney, underPlan, ungoverned } from "./governed.js";
import { type Grant, grants, licence, licenceEnd, withCredentials } from "./grants.js";
import { followRevocation } from "./notices.js";
import { type Obstacle, obstacle, offeringNamed, priceNamed } from "./offerings.js";

interface Campaign {
  readonly description: string;
  readonly uses: readonly string[];
  readonly countries?: readonly string[];
  readonly estimated_impressions?: number;
  readonly start_date?: string;
  readonly end_date?: string;
}

interface Wanted {
  readonly rights_id: string;
  readonly pricing_option_id: string;
  readonly buyer: { readonly domain: string; readonly brand_id?: string };
  readonly account?: AccountRef;
  readonly campaign: Campaign;
  readonly revocation_webhook: JsonObject & { readonly url: string };
  readonly governance_context?: string;
  readonly idempotency_key?: string;
}

/** A licence is for what is yet to come. */
function checkDates({ start_date: start, end_date: end }: Campaign, today: string): void {
  const refuse = (message: string): never => {
    throw new ToolError("INVALID_REQUEST", message, { field: "campaign.end_date" });
  };
  if (start !== undefined && end !== undefined && end < start) refuse("the campaign ends before it starts");
  if (end !== undefined && end < today) refuse(`the campaign ended on ${end}: no licence is given for the past`);
}

/**
 * What is paid by the impression is under a plan, or on an agent's word, only as many as are named.
 * @throws ToolError INVALID_REQUEST
 */
function checkImpressions(price: RightsPrice, request: Wanted, account: Account | undefined): void {
  const governed = (account?.governance_agents ?? []).length > 0 || (request.governance_context ?? "") !== "";
  if (!governed || price.model !== "cpm" || (request.campaign.estimated_impressions ?? 0) > 0) return;
  throw new ToolError("INVALID_REQUEST", "the licence is paid by the impression: say how many there will be", {
    field: "campaign.estimated_impressions",
  });
}

/** What the campaign costs; undefined where it is paid by the impression and nobody says how many. */
const costOf = (call: BehaviourCall, price: RightsPrice, campaign: Campaign): number | undefined =>
  licenceCost(price, {
    first: campaign.start_date ?? call.time,
    last: licenceEnd(call, campaign.end_date),
    impressions: campaign.estimated_impressions,
  });

/** A call that is done again, on what is there now, is about the same licence: nobody is asked for two sets of keys. */
const grantIdOf = (call: BehaviourToolCall, request: Wanted): string =>
  `grant_${repetitionOf(call, request, 0).slice(0, 20)}`;

async function grantFor(
  call: BehaviourCall,
  request: Wanted,
  { grant_id, offering: of, price }: { grant_id: string; offering: RightsOffering; price: RightsPrice },
): Promise<Grant> {
  const { campaign, buyer, account } = request;
  const { start_date, end_date, countries = of.countries } = campaign;
  const house = (await findBrand(call, of.brand_id))?.house.domain;
  return {
    grant_id,
    offering_id: of.rights_id,
    brand_id: of.brand_id,
    domain: house ?? new URL(call.agentUrl).hostname,
    right_type: of.right_type,
    buyer: { domain: buyer.domain, ...(buyer.brand_id !== undefined && { brand_id: buyer.brand_id }) },
    ...(account !== undefined && { account }),
    terms: {
      pricing_option_id: price.pricing_option_id,
      amount: price.price,
      currency: price.currency,
      ...(price.period !== undefined && { period: price.period }),
      ...(price.overage_cpm !== undefined && { overage_cpm: price.overage_cpm }),
      uses: campaign.uses,
      ...(start_date !== undefined && { start_date }),
      ...(end_date !== undefined && { end_date }),
      ...(price.impression_cap !== undefined && { impression_cap: price.impression_cap }),
    },
    ...(countries !== undefined && countries.length > 0 && { countries }),
    ...(of.restrictions !== undefined && { restrictions: of.restrictions }),
    ...(of.disclosure !== undefined && { disclosure: of.disclosure }),
    description: campaign.description,
    ...(campaign.estimated_impressions !== undefined && { impressions: campaign.estimated_impressions }),
    state: "pending",
    paused: false,
    since: start_date ?? call.time.slice(0, 10),
    until: licenceEnd(call, end_date),
    credentials: [],
  };
}

const ownRule = async (): Promise<LicenceDecision> => ({ decision: "grant" });

/** What whoever decides on licences says of this one. */
export async function decided(call: BehaviourCall, offering: RightsOffering, grant: Grant): Promise<LicenceDecision> {
  const { terms, buyer, description, impressions } = grant;
  const { brands } = call.ports;
  const question = {
    principal: call.principal,
    grantId: grant.grant_id,
    offering,
    price: priceNamed(offering, terms.pricing_option_id),
    buyer,
    uses: terms.uses,
    countries: grant.countries ?? [],
    description,
    ...(terms.start_date !== undefined && { start: terms.start_date }),
    ...(terms.end_date !== undefined && { end: terms.end_date }),
    ...(impressions !== undefined && { impressions }),
  };
  const said = await (brands.decide === undefined ? ownRule() : brands.decide(question));
  if (["grant", "refuse", "wait"].includes(said?.decision)) return said;
  throw new AdbindError("port_answer_invalid", `a licence is decided on by ${JSON.stringify(said)}`, {
    where: "decide of the port brands",
    remedy: "answer { decision }: grant, refuse or wait",
  });
}

/** Days count where one licence can shut out others. */
export async function daysAreFree(call: BehaviourCall, offering: RightsOffering, grant: Grant): Promise<boolean> {
  if (!offering.pricing.some(({ exclusive }) => exclusive)) return true;
  const { start_date: start = call.time.slice(0, 10), pricing_option_id: id } = grant.terms;
  const exclusive = offering.pricing.find(({ pricing_option_id }) => pricing_option_id === id)?.exclusive === true;
  const days = { start, end: grant.until.slice(0, 10) };
  return holdDays(call, offering.rights_id, { grant_id: grant.grant_id, exclusive, ...days });
}

export const daysTaken: Obstacle = {
  reason: "An exclusive licence stands against these days.",
  suggestions: ["Ask for other days, or for other rights."],
};

/** The state of the answer's rights: since 3.1 it has a field of its own, before it was the answer's `status`. */
const stated = ({ shape }: BehaviourToolCall, state: string): JsonObject =>
  shape.has("rights_status") ? { rights_status: state } : { status: state };

export const acquireRights: ToolBehaviour = async (request: Wanted, call) => {
  const offering = await offeringNamed(call, request.rights_id);
  const price = priceNamed(offering, request.pricing_option_id);
  const { campaign, buyer, account: ref } = request;
  checkDates(campaign, call.time.slice(0, 10));
  if (ref === undefined) await nobodysMoney(call);
  const account = ref === undefined ? undefined : await spendingAccount(call, ref);
  checkImpressions(price, request, account);
  const whose = { rights_id: offering.rights_id, brand_id: offering.brand_id };
  const refused = (against: Obstacle) => call.answer({ ...whose, ...stated(call, "rejected"), ...against });
  const covered = { ...offering, available_uses: price.uses };
  const wanted = {
    uses: campaign.uses,
    buyer: buyer.domain,
    ...(campaign.countries && { countries: campaign.countries }),
  };
  const grant_id = grantIdOf(call, request);
  const { currency } = price;
  const spending = { tool: call.tool, what: grant_id, request, amount: costOf(call, price, campaign), currency };
  const against = (await ungoverned(call, account, spending)) ?? obstacle(covered, wanted);
  if (against !== undefined) return refused(against);
  const asked = await grantFor(call, request, { grant_id, offering, price });
  const decision = await decided(call, offering, asked);
  if (decision.decision === "refuse") {
    const { reason, suggestions } = decision;
    return refused({ reason, ...(suggestions !== undefined && { suggestions }) });
  }
  // What somebody thinks about is kept free for who asked first.
  if (!(await daysAreFree(call, offering, asked))) return refused(daysTaken);
  const waits = decision.decision === "wait";
  const made = async () => (waits ? asked : withCredentials(call, { ...asked, state: "granted" }));
  const grant = await underPlan(call, { ...spending, account }, made);
  grants.put(call, call.principal, grant.grant_id, grant);
  followRevocation(call, asked.grant_id, request.revocation_webhook);
  if (decision.decision === "wait") {
    const within = decision.within === undefined ? {} : { estimated_response_time: decision.within };
    const named = { rights_id: asked.grant_id, brand_id: offering.brand_id };
    return call.answer({ ...named, ...stated(call, "pending_approval"), detail: decision.detail, ...within });
  }
  const { restrictions, disclosure: text } = grant;
  return call.answer({
    ...whose,
    ...stated(call, "acquired"),
    ...licence(call, grant),
    ...(restrictions !== undefined && { restrictions }),
    ...(text !== undefined && { disclosure: { required: true, text } }),
  });
};
