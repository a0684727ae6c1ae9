/** `acquire_rights` and `update_rights`: a licence for a campaign, or the reason why there is none; and what becomes of it. */
import type { JsonObject } from "../../contract/index.js";
import { isPromise } from "../../db/coroutine.js";
import { ToolError } from "../../seller/tool-error.js";
import type { PushNotificationConfig } from "../../sender/types.js";
import { type AccountRef, spendingAccount } from "../accounts/accounts.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourReply, BehaviourToolCall } from "../frame/call.js";
import { denialOf } from "../governance/authority.js";
import type { RightsOffering, RightsPrice } from "../ports/brands.js";
import { findBrand } from "./identity.js";
import { disclosureOf, type Licence, licenceOf, saveLicence, shownLicence } from "./licences.js";
import { obstacle, offeringOf } from "./offerings.js";

interface Campaign extends JsonObject {
  readonly uses: readonly string[];
  readonly countries?: readonly string[];
  readonly start_date?: string;
  readonly end_date?: string;
  readonly estimated_impressions?: number;
}

interface Wanted extends JsonObject {
  readonly account?: AccountRef;
  readonly rights_id: string;
  readonly pricing_option_id: string;
  readonly buyer: { readonly domain?: string };
  readonly campaign: Campaign;
  readonly revocation_webhook?: PushNotificationConfig;
}

function priceOf({ pricing, rights_id }: RightsOffering, id: string): RightsPrice {
  const found = pricing.find(({ pricing_option_id }) => pricing_option_id === id);
  if (found !== undefined) return found;
  const message = `${id} is no pricing option of ${rights_id}`;
  throw new ToolError("INVALID_REQUEST", message, { field: "pricing_option_id" });
}

/** A licence is for what is yet to come. */
function checkDates({ start_date: start, end_date: end }: Campaign, time: string): void {
  const field = "campaign.end_date";
  if (start !== undefined && end !== undefined && end < start)
    throw new ToolError("INVALID_REQUEST", "the campaign ends before it starts", { field });
  if (end !== undefined && end < time.slice(0, 10))
    throw new ToolError("INVALID_REQUEST", `the campaign ended on ${end}: no licence is given for the past`, { field });
}

/** What the campaign will cost; undefined where it is paid by the impression and nobody says how many. */
const costOf = ({ model, price }: RightsPrice, { estimated_impressions: many }: Campaign): number | undefined =>
  model === "flat_rate" ? price : many === undefined ? undefined : (price * many) / 1_000;

/** Why the buyer's own side forbids it. */
async function denied(call: BehaviourToolCall, request: Wanted, price: RightsPrice): Promise<string | undefined> {
  if (request.account === undefined) return undefined;
  const account = await spendingAccount(call, request.account);
  const amount = costOf(price, request.campaign);
  const action = { tool: "acquire_rights", request, amount, tokenRequired: true };
  return (await denialOf(call, account, action))?.message;
}

/** Has a revocation of the licence sent to the buyer. */
function follow(call: BehaviourToolCall, grantId: string, config: PushNotificationConfig): void {
  const { sender } = call.ctx;
  const field = "revocation_webhook";
  if (sender === undefined)
    throw new ToolError("UNSUPPORTED_FEATURE", "this agent cannot send revocations, and gives no licence without", {
      field,
    });
  const subscription = { resource: grantId, principal: call.principal };
  call.ctx.effect((tx) => {
    const refuse = (done: Awaited<ReturnType<typeof sender.channels.subscribe>>): void => {
      if (!done.ok) throw new ToolError(done.error.code, done.error.message, { field });
    };
    const done = sender.channels.subscribe("rights", subscription, config, { tx });
    return isPromise(done) ? done.then(refuse) : refuse(done);
  });
}

/** Up to 3.0 the state of a licence stood where the task's stands now. */
const stateOf = (call: BehaviourToolCall, state: string): JsonObject =>
  call.shape.has("rights_status") ? { rights_status: state } : { status: state };

export const acquireRights: ToolBehaviour = async (request: Wanted, call) => {
  const of = await offeringOf(call, request.rights_id);
  const price = priceOf(of, request.pricing_option_id);
  const { campaign, buyer } = request;
  const rejected = (why: JsonObject): BehaviourReply =>
    call.answer({ rights_id: of.rights_id, brand_id: of.brand_id, ...stateOf(call, "rejected"), ...why });
  const denial = await denied(call, request, price);
  if (denial !== undefined) return rejected({ reason: denial });
  checkDates(campaign, call.time);
  const against = obstacle(
    { ...of, available_uses: price.uses },
    {
      uses: campaign.uses,
      ...(campaign.countries !== undefined && { countries: campaign.countries }),
      ...(buyer.domain !== undefined && { buyer: buyer.domain }),
    },
  );
  if (against !== undefined) return rejected({ ...against });
  const question = { principal: call.principal, offering: of, price, buyer: buyer.domain, campaign };
  const reason = await call.ports.brands.refuse?.(question);
  if (reason !== undefined) return rejected({ reason });
  const licence = await licenceFor(call, of, { price, campaign });
  saveLicence(call, licence);
  if (request.revocation_webhook !== undefined) follow(call, licence.grant_id, request.revocation_webhook);
  return call.answer({
    brand_id: of.brand_id,
    ...stateOf(call, "acquired"),
    ...shownLicence(call, licence),
    ...(of.restrictions !== undefined && { restrictions: of.restrictions }),
    disclosure: disclosureOf(licence),
  });
};

const licenceFor = async (
  call: BehaviourToolCall,
  { rights_id, brand_id, right_type, countries, restrictions, disclosure }: RightsOffering,
  { price, campaign }: { readonly price: RightsPrice; readonly campaign: Campaign },
): Promise<Licence> => ({
  grant_id: call.id("grant"),
  offering_id: rights_id,
  brand_id,
  house: (await findBrand(call, brand_id))?.house.domain ?? new URL(call.agentUrl).hostname,
  right_type,
  ...(countries !== undefined && { countries }),
  price,
  uses: campaign.uses,
  ...(campaign.start_date !== undefined && { start_date: campaign.start_date }),
  ...(campaign.end_date !== undefined && { end_date: campaign.end_date }),
  ...(price.impression_cap !== undefined && { impression_cap: price.impression_cap }),
  ...(restrictions !== undefined && { restrictions }),
  ...(disclosure !== undefined && { disclosure }),
  paused: false,
});

interface Changed {
  readonly rights_id: string;
  readonly end_date?: string;
  readonly impression_cap?: number;
  readonly pricing_option_id?: string;
  readonly paused?: boolean;
}

/** The price a licence is to have from now on. @throws ToolError INVALID_REQUEST for one that does not cover its uses */
async function newPrice(call: BehaviourToolCall, licence: Licence, id: string | undefined): Promise<RightsPrice> {
  if (id === undefined || id === licence.price.pricing_option_id) return licence.price;
  const price = priceOf(await offeringOf(call, licence.offering_id ?? ""), id);
  if (licence.uses.every((use) => price.uses.includes(use))) return price;
  const message = `${id} does not cover ${licence.uses.join(", ")}`;
  throw new ToolError("INVALID_REQUEST", message, { field: "pricing_option_id" });
}

/** A licence longer, with another cap or price, paused or not. What is left out stays. */
export const updateRights: ToolBehaviour = async (request: Changed, call) => {
  const licence = await licenceOf(call, request.rights_id);
  const { end_date, impression_cap, paused = licence.paused } = request;
  if (end_date !== undefined && licence.end_date !== undefined && end_date < licence.end_date) {
    const message = `a licence that ends on ${licence.end_date} cannot be made shorter`;
    throw new ToolError("INVALID_REQUEST", message, { field: "end_date" });
  }
  const changed: Licence = {
    ...licence,
    price: await newPrice(call, licence, request.pricing_option_id),
    paused,
    ...(end_date !== undefined && { end_date }),
    ...(impression_cap !== undefined && { impression_cap }),
  };
  saveLicence(call, changed);
  return call.answer({ ...shownLicence(call, changed), paused, implementation_date: call.time });
};
