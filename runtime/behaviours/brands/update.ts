/** `update_rights`: a licence longer, with another cap or price, paused or not. What is left out stays. */
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, accountId, spendingAccount } from "../accounts/accounts.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import type { RightsOffering } from "../ports/brands.js";
import { daysAreFree, daysTaken } from "./acquire.js";
import { licenceCost } from "./cost.js";
import { nobodysMoney, underPlan, ungoverned } from "./governed.js";
import { type Grant, type GrantTerms, grants, isOver, licence, licenceEnd, withCredentials } from "./grants.js";
import { findOffering, offeringNamed, priceNamed } from "./offerings.js";

interface Change {
  readonly rights_id: string;
  readonly account?: AccountRef;
  readonly end_date?: string;
  readonly impression_cap?: number;
  readonly pricing_option_id?: string;
  readonly paused?: boolean;
  readonly governance_context?: string;
}

/** The caller's licence. @throws ToolError REFERENCE_NOT_FOUND, INVALID_STATE */
async function grantNamed(call: BehaviourCall, id: string): Promise<Grant> {
  const field = { field: "rights_id" };
  const grant = await grants.get(call, call.principal, id);
  if (grant === undefined) throw new ToolError("REFERENCE_NOT_FOUND", "there is no such licence", field);
  if (grant.state === "pending")
    throw new ToolError("INVALID_STATE", "the licence waits for the rights holder's decision", field);
  if (grant.state === "revoked") throw new ToolError("INVALID_STATE", "the licence has been taken back", field);
  if (isOver(call, grant)) throw new ToolError("INVALID_STATE", `the licence ended at ${grant.until}`, field);
  return grant;
}

/** @throws ToolError INVALID_REQUEST */
function changedTerms(terms: GrantTerms, request: Change, offering: RightsOffering | undefined): GrantTerms {
  const { end_date, impression_cap, pricing_option_id: id } = request;
  if (end_date !== undefined && terms.end_date !== undefined && end_date < terms.end_date)
    throw new ToolError("INVALID_REQUEST", `a licence that ends on ${terms.end_date} cannot be made shorter`, {
      field: "end_date",
    });
  const dates = {
    ...(end_date !== undefined && { end_date }),
    ...(impression_cap !== undefined && { impression_cap }),
  };
  if (id === undefined || id === terms.pricing_option_id || offering === undefined) return { ...terms, ...dates };
  const price = priceNamed(offering, id);
  if (terms.uses.some((use) => !price.uses.includes(use)))
    throw new ToolError("INVALID_REQUEST", `${id} does not cover ${terms.uses.join(", ")}`, {
      field: "pricing_option_id",
    });
  const { period, overage_cpm, impression_cap: cap } = price;
  const { start_date, end_date: end, uses } = terms;
  return {
    pricing_option_id: id,
    amount: price.price,
    currency: price.currency,
    uses,
    ...(period !== undefined && { period }),
    ...(overage_cpm !== undefined && { overage_cpm }),
    ...(start_date !== undefined && { start_date }),
    ...(end !== undefined && { end_date: end }),
    ...(cap !== undefined && { impression_cap: cap }),
    ...dates,
  };
}

/** Does it bind the buyer to more than before? Pausing and spending less need nobody's word. */
const bindsMore = (before: Grant, after: Grant): boolean =>
  after.until > before.until ||
  (before.paused && !after.paused) ||
  after.terms.pricing_option_id !== before.terms.pricing_option_id ||
  (after.terms.impression_cap ?? 0) > (before.terms.impression_cap ?? 0);

/** Whose money it is. @throws ToolError REFERENCE_NOT_FOUND where another account is named than the one it was given to */
async function payer(call: BehaviourCall, grant: Grant, { account }: Change): Promise<AccountRef | undefined> {
  if (grant.account === undefined || account === undefined) return grant.account ?? account;
  if ((await accountId(call, account)) === (await accountId(call, grant.account))) return grant.account;
  throw new ToolError("REFERENCE_NOT_FOUND", "there is no such licence of this account", { field: "account" });
}

/** What the whole licence costs; its price for one period where what it is of is offered no more. */
function costOf(grant: Grant, offering: RightsOffering | undefined): number | undefined {
  const { terms, since, until, impressions } = grant;
  const price = offering?.pricing.find(({ pricing_option_id: id }) => id === terms.pricing_option_id);
  return price === undefined ? terms.amount : licenceCost(price, { first: since, last: until, impressions });
}

export const updateRights: ToolBehaviour = async (request: Change, call) => {
  const grant = await grantNamed(call, request.rights_id);
  const { pricing_option_id: id } = request;
  // A price that is to be had now; a licence goes on when what it was of is offered no more.
  const other = id !== undefined && id !== grant.terms.pricing_option_id;
  const offering = await (other ? offeringNamed : findOffering)(call, grant.offering_id);
  const terms = changedTerms(grant.terms, request, offering);
  const { paused = grant.paused, end_date: end } = request;
  const changed: Grant = { ...grant, terms, paused, ...(end !== undefined && { until: licenceEnd(call, end) }) };
  // A licence without a named end has one too.
  if (changed.until < grant.until)
    throw new ToolError("INVALID_REQUEST", `a licence that ends at ${grant.until} cannot be made shorter`, {
      field: "end_date",
    });
  const ref = await payer(call, grant, request);
  const more = bindsMore(grant, changed);
  if (more && ref === undefined) await nobodysMoney(call);
  const account = more && ref !== undefined ? await spendingAccount(call, ref) : undefined;
  const { currency } = changed.terms;
  const spending = {
    ...{ tool: call.tool, what: grant.grant_id, request, currency },
    amount: costOf(changed, offering),
  };
  const against = await ungoverned(call, account, spending);
  if (against !== undefined) throw new ToolError("GOVERNANCE_DENIED", against.reason, { field: "governance_context" });
  if (more && offering !== undefined && !(await daysAreFree(call, offering, changed)))
    throw new ToolError("CONFLICT", daysTaken.reason, { field: "end_date" });
  const kept = await underPlan(call, { ...spending, account }, () => withCredentials(call, changed));
  grants.put(call, call.principal, kept.grant_id, kept);
  return call.answer({ ...licence(call, kept), paused, implementation_date: call.time });
};
