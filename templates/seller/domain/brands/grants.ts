/** Licences: what a buyer may do with rights, until when, and the credentials to do it. */
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import { after } from "../../effects.js";
import type { Call, Request } from "../../handler.js";
import { stated } from "../../stated.js";
import { type AccountRef, spendingAccount } from "../accounts/accounts.js";
import { requireApproval } from "../governance/authority.js";
import { type Offering, obstacle, offering, type RightsPrice } from "./offerings.js";

type Acquire = Request<"acquire_rights">;
type Update = Request<"update_rights">;

interface Grant {
  readonly grant_id: string;
  readonly offering_id: string;
  readonly pricing_option_id: string;
  readonly uses: readonly string[];
  /** Dates such as 2027-03-31. */
  readonly start_date?: string;
  readonly end_date?: string;
  readonly impression_cap?: number;
  readonly paused: boolean;
}

const KIND = "rights_grant";

/** How long credentials live where the campaign names no end, in days. */
const OPEN_END_DAYS = 90;
const DAY = 86_400_000;

function priceOf(of: Offering, id: string): RightsPrice {
  const found = of.pricing.find(({ pricing_option_id }) => pricing_option_id === id);
  if (found !== undefined) return found;
  throw new ToolError("INVALID_REQUEST", `${id} is no pricing option of ${of.rights_id}`, {
    field: "pricing_option_id",
  });
}

/** A licence is for what is yet to come. */
function checkDates({ start_date: start, end_date: end }: Acquire["campaign"], now: Date): void {
  if (start !== undefined && end !== undefined && end < start) {
    throw new ToolError("INVALID_REQUEST", "the campaign ends before it starts", { field: "campaign.end_date" });
  }
  if (end !== undefined && end < now.toISOString().slice(0, 10)) {
    throw new ToolError("INVALID_REQUEST", `the campaign ended on ${end}: no licence is given for the past`, {
      field: "campaign.end_date",
    });
  }
}

/** What the campaign will cost; undefined where it is paid by the impression and nobody says how many. */
function costOf(
  { model, price }: RightsPrice,
  { estimated_impressions: impressions }: Acquire["campaign"],
): number | undefined {
  if (model === "flat_rate") return price;
  return impressions === undefined ? undefined : (price * impressions) / 1_000;
}

const endOf = (call: Call, { end_date: end }: Grant): string =>
  end === undefined
    ? new Date(call.now.getTime() + OPEN_END_DAYS * DAY).toISOString()
    : new Date(Date.parse(end) + DAY - 1).toISOString();

/** The parts of a licence that answers have. */
function licence(call: Call, grant: Grant, of: Offering): JsonObject {
  const { price: amount, currency, period, overage_cpm } = priceOf(of, grant.pricing_option_id);
  const { start_date, end_date, impression_cap } = grant;
  const bounds = {
    ...(start_date !== undefined && { start_date }),
    ...(end_date !== undefined && { end_date }),
    ...(impression_cap !== undefined && { impression_cap }),
  };
  const until = endOf(call, grant);
  return {
    rights_id: grant.grant_id,
    terms: {
      pricing_option_id: grant.pricing_option_id,
      amount,
      currency,
      uses: grant.uses,
      ...(period !== undefined && { period }),
      ...(overage_cpm !== undefined && { overage_cpm }),
      ...bounds,
    },
    generation_credentials: [
      {
        provider: new URL(call.agentUrl).hostname,
        rights_key: `rk_${call.ctx.uuid().replaceAll("-", "")}`,
        uses: grant.uses,
        expires_at: until,
      },
    ],
    rights_constraint: {
      rights_id: grant.grant_id,
      rights_agent: { url: call.agentUrl, id: of.brand_id },
      uses: grant.uses,
      right_type: of.right_type,
      ...(start_date !== undefined && { valid_from: new Date(start_date).toISOString() }),
      valid_until: until,
      ...(of.countries !== undefined && { countries: of.countries }),
      ...(impression_cap !== undefined && { impression_cap }),
      approval_status: "approved",
    },
  };
}

/** Has a revocation of the licence sent to the buyer. */
function follow(call: Call, grantId: string, config: Acquire["revocation_webhook"]): void {
  const { sender } = call.ctx;
  if (sender === undefined) {
    throw new ToolError("UNSUPPORTED_FEATURE", "this agent cannot send revocations, and gives no licence without", {
      field: "revocation_webhook",
    });
  }
  call.ctx.effect((tx) => {
    const subscription = { resource: grantId, principal: call.principal };
    return after(sender.channels.subscribe("rights", subscription, config as never, { tx }), (done) => {
      if (!done.ok) throw new ToolError(done.error.code, done.error.message, { field: "revocation_webhook" });
    });
  });
}

/** `acquire_rights`: a licence for a campaign, or the reason why there is none. */
export function acquireRights(call: Call, request: Acquire): JsonObject {
  const of = offering(call, request.rights_id);
  const price = priceOf(of, request.pricing_option_id);
  const { campaign } = request;
  const ref = (request as { account?: AccountRef }).account;
  const account = ref === undefined ? undefined : spendingAccount(call, ref);
  requireApproval(call, account, { tool: "acquire_rights", request, amount: costOf(price, campaign) });
  checkDates(campaign, call.now);
  const against = obstacle(
    { ...of, available_uses: price.uses },
    {
      uses: campaign.uses,
      ...(campaign.countries !== undefined && { countries: campaign.countries }),
      ...(request.buyer.domain !== undefined && { buyer: request.buyer.domain }),
    },
  );
  const whose = { rights_id: of.rights_id, brand_id: of.brand_id };
  if (against !== undefined) return { ...whose, ...stated(call, "rights_status", "rejected"), ...against };
  const grant: Grant = {
    grant_id: call.id("grant"),
    offering_id: of.rights_id,
    pricing_option_id: price.pricing_option_id,
    uses: campaign.uses,
    ...(campaign.start_date !== undefined && { start_date: campaign.start_date }),
    ...(campaign.end_date !== undefined && { end_date: campaign.end_date }),
    ...(price.impression_cap !== undefined && { impression_cap: price.impression_cap }),
    paused: false,
  };
  call.documents.put(KIND, call.principal, grant.grant_id, grant);
  follow(call, grant.grant_id, request.revocation_webhook);
  return {
    ...whose,
    ...stated(call, "rights_status", "acquired"),
    ...licence(call, grant, of),
    ...(of.restrictions !== undefined && { restrictions: of.restrictions }),
    disclosure: { required: of.disclosure !== undefined, ...(of.disclosure !== undefined && { text: of.disclosure }) },
  };
}

/** `update_rights`: a licence longer, with another cap or price, paused or not. What is left out stays. */
export function updateRights(call: Call, request: Update): JsonObject {
  const grant = call.documents.get<Grant>(KIND, call.principal, request.rights_id);
  if (grant === undefined) {
    throw new ToolError("REFERENCE_NOT_FOUND", "there is no such licence", { field: "rights_id" });
  }
  const { end_date, impression_cap, pricing_option_id = grant.pricing_option_id, paused = grant.paused } = request;
  if (end_date !== undefined && grant.end_date !== undefined && end_date < grant.end_date) {
    throw new ToolError("INVALID_REQUEST", `a licence that ends on ${grant.end_date} cannot be made shorter`, {
      field: "end_date",
    });
  }
  const of = offering(call, grant.offering_id);
  const price = priceOf(of, pricing_option_id);
  if (grant.uses.some((use) => !price.uses.includes(use))) {
    throw new ToolError("INVALID_REQUEST", `${pricing_option_id} does not cover ${grant.uses.join(", ")}`, {
      field: "pricing_option_id",
    });
  }
  const changed: Grant = {
    ...grant,
    pricing_option_id,
    paused,
    ...(end_date !== undefined && { end_date }),
    ...(impression_cap !== undefined && { impression_cap }),
  };
  call.documents.put(KIND, call.principal, grant.grant_id, changed);
  return { ...licence(call, changed, of), paused, implementation_date: call.now.toISOString() };
}
