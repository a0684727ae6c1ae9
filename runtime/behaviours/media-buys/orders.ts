/** An order, looked through: what it comes to, and the buy it would make. */
import { UTC } from "../../calendar.js";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, spendingAccount } from "../accounts/accounts.js";
import type { Commitment } from "../accounts/commitment.js";
import { type BuyPackage, endOf, type MediaBuy, startOf } from "../buys/buys.js";
import { storeCreatives } from "../creatives/sync.js";
import { buyZone } from "../delivery/periods.js";
import type { BehaviourCall } from "../frame/call.js";
import { toldAs } from "../frame/told-as.js";
import type { Order } from "../ports/ad-server.js";
import { divided } from "../products/draft.js";
import { findProduct, productOf } from "../products/products.js";
import { endProposal } from "../products/proposal-ends.js";
import { proposalOf } from "../products/proposals.js";
import { committedOf, findNegotiated, type Negotiated, saveNegotiated } from "../products/terms.js";
import { readAssigned } from "./assigned.js";
import { checkBidding } from "./bidding.js";
import { checkDailyCaps } from "./caps.js";
import { checkDates, checkStart } from "./dates.js";
import { checkInvoiced } from "./invoiced.js";
import { countedSum, type Flight, givenBudget, newPackage, type WantedPackage } from "./packages.js";
import { checkCurrency, checkTotal } from "./total.js";
import { changedTerms, checkSupported, checkWhole, controlsIn } from "./whole.js";

export interface WantedOrder {
  readonly account: AccountRef;
  readonly brand: JsonObject;
  readonly start_time: string;
  readonly end_time: string;
  readonly packages?: readonly WantedPackage[];
  readonly proposal_id?: string;
  readonly total_budget?: { readonly amount: number; readonly currency?: string };
  readonly paused?: boolean;
  readonly budget_allocation?: unknown;
  readonly budget_cap_timezone?: unknown;
  readonly reporting_webhook?: unknown;
  readonly frequency_cap?: unknown;
  readonly daily_budget_cap?: unknown;
  readonly invoice_recipient?: unknown;
  /** The terms that were agreed to before, where there was an agreement. */
  readonly accepted?: Negotiated;
}

/** An order that may be booked. */
export interface CheckedOrder {
  readonly buy: MediaBuy;
  readonly total: number;
  /** Impressions are promised, without a proposal behind it. */
  readonly guaranteed: boolean;
}

const keptFields = [
  "plan_id",
  "governance_context",
  "po_number",
  "agency_estimate_number",
  "invoice_recipient",
  "reporting_webhook",
  "proposal_id",
  "advertiser_industry",
  "name",
  "daily_budget_cap",
  "frequency_cap",
  "pacing",
  "bidding",
  "context",
];

/**
 * Looks an order through; what comes with it, a new account and creatives, is kept with the answer.
 * @throws ToolError for what cannot be booked
 */
export async function checkOrder(call: BehaviourCall, request: WantedOrder): Promise<CheckedOrder> {
  checkSupported(request);
  const account = await spendingAccount(call, request.account);
  await checkInvoiced(call, account, request.invoice_recipient);
  const flight = flightOf(call, request);
  const accepted = request.accepted ?? (await negotiated(call, request));
  const wanted = request.packages ?? accepted?.commercial_terms.purchases ?? (await proposedPackages(call, request));
  checkDailyCaps(call, { whole: request, packages: wanted });
  await readAssigned(call, request.packages ?? []);
  const packages: BuyPackage[] = [];
  const ordered = { ...flight, accountId: account.account_id };
  for (const [index, one] of wanted.entries())
    packages.push(await toldAs(() => newPackage(call, one, ordered, `packages[${index}]`), inOrder(request)));
  const currencies = new Set(packages.map(({ currency }) => currency));
  if (currencies.size > 1)
    throw new ToolError("INVALID_REQUEST", "packages of one buy must have one currency", { field: "packages" });
  const total = countedSum(
    packages.map(({ budget }) => budget),
    inOrder(request)("packages"),
  );
  const currency = [...currencies][0] ?? "USD";
  if (request.total_budget !== undefined) checkTotal(call, { currency, packages }, request.total_budget);
  await checkWhole(call, { packages }, request);
  checkBidding(call, { packages, terms: { ...request } });
  // Packages of the buyer's own were not committed to before, whatever proposal is named beside them.
  const committed =
    request.accepted === undefined
      ? request.packages === undefined && request.proposal_id !== undefined
      : request.accepted.parent_proposal_id !== undefined || request.proposal_id !== undefined;
  const guaranteed = !committed && (await promisesImpressions(call, packages));
  for (const { creatives } of request.packages ?? [])
    await storeCreatives(call, account.account_id, { uploads: creatives, packages });
  const zone = await buyZone(call, packages);
  const buy: MediaBuy = {
    media_buy_id: call.id("mb"),
    account_id: account.account_id,
    brand: { ...request.brand },
    currency,
    created_at: call.time,
    confirmed_at: call.time,
    updated_at: call.time,
    revision: 1,
    paused: request.paused === true,
    packages,
    ...(zone !== UTC && { reporting_timezone: zone }),
    history: [{ revision: 1, timestamp: call.time, action: "created", summary: `${packages.length} packages` }],
    ...(accepted !== undefined && { accepted }),
    terms: changedTerms({}, Object.fromEntries(Object.entries(request).filter(([name]) => keptFields.includes(name)))),
  };
  const proposal = proposalIn(buy);
  if (proposal !== undefined) {
    const { media_buy_id } = buy;
    await endProposal(call, { proposal_id: proposal, how: "accepted", media_buy_id }, "proposal_id");
  }
  return { buy, total, guaranteed };
}

/** Where an order says what is wrong with a package: those that a proposal comes to are not in it. */
const inOrder =
  ({ packages, total_budget: total }: WantedOrder) =>
  (field: string): string => {
    if (packages !== undefined) return field;
    return total !== undefined && /budget$|^packages$/.test(field) ? "total_budget.amount" : "proposal_id";
  };

/** What is sold by the unit is sold at the rate card, without an insertion order; what is sold no more promised what it did. */
export async function promisesImpressions(call: BehaviourCall, packages: readonly BuyPackage[]): Promise<boolean> {
  const all = await Promise.all(
    packages.map(async ({ product_id, pricing_option_id }) => {
      const product = await findProduct(call, product_id);
      const option = product?.pricing_options.find((one) => one.pricing_option_id === pricing_option_id);
      const byUnit = option?.pricing_model === "flat_rate" || option?.pricing_model === "time";
      return product?.delivery_type === "guaranteed" && !byUnit;
    }),
  );
  return all.includes(true);
}

/** The proposal that a buy comes of; published offers are bought without one. */
const proposalIn = ({ accepted, terms }: MediaBuy): string | undefined =>
  accepted?.state === "accepted" ? undefined : (accepted?.proposal_id ?? (terms.proposal_id as string | undefined));

/** The agreement that a buy came of is kept with it. */
export function saveAgreement(call: BehaviourCall, buy: MediaBuy): void {
  if (buy.accepted !== undefined) saveNegotiated(call, { ...buy.accepted, ...acceptedBy(call, buy) });
}

/** How a proposal is, once a buy has come of it. */
export const acceptedBy = (call: BehaviourCall, { media_buy_id }: Pick<MediaBuy, "media_buy_id">) =>
  ({ state: "accepted", accepted_at: call.time, media_buy_id }) as const;

/** The proposal an order names, where it was negotiated. @throws ToolError as `committedOf` */
async function negotiated(call: BehaviourCall, { proposal_id: id }: WantedOrder): Promise<Negotiated | undefined> {
  if (id === undefined || (await findNegotiated(call, id)) === undefined) return undefined;
  return committedOf(call, id, "proposal_id");
}

function flightOf(call: BehaviourCall, { start_time, end_time }: WantedOrder): Flight {
  const start = start_time === "asap" ? call.time : start_time;
  checkStart(call, start, "");
  checkDates(start, end_time, "");
  return { start, end: end_time };
}

/** A proposal's shares of the money, as packages. */
async function proposedPackages(
  call: BehaviourCall,
  { proposal_id, total_budget }: WantedOrder,
): Promise<WantedPackage[]> {
  if (proposal_id === undefined)
    throw new ToolError("INVALID_REQUEST", "give packages, or a proposal_id with total_budget", { field: "packages" });
  if (total_budget === undefined)
    throw new ToolError("INVALID_REQUEST", "a proposal is bought with a total_budget", { field: "total_budget" });
  const { allocations } = await proposalOf(call, proposal_id, "proposal_id");
  const sold = await Promise.all(
    allocations.map(async ({ product_id, pricing_option_id: named }) => {
      const { pricing_options: options } = await productOf(call, product_id, "proposal_id");
      return {
        product_id,
        option: named === undefined ? options[0] : options.find((one) => one.pricing_option_id === named),
        named,
      };
    }),
  );
  // Said of the sum that was given: its shares stand nowhere in the request.
  const currency = sold[0]?.option?.currency ?? total_budget.currency ?? "USD";
  checkCurrency(call, currency, total_budget);
  const amount = await toldAs(
    async () => givenBudget(total_budget.amount, currency, "total_budget"),
    () => "total_budget.amount",
  );
  const budgets = divided(
    { amount, currency },
    allocations.map(({ allocation_percentage }) => allocation_percentage),
  );
  return sold.map(({ product_id, option, named }, index) => ({
    product_id,
    pricing_option_id: named ?? option?.pricing_option_id ?? "",
    budget: budgets[index]!,
  }));
}

/**
 * What is asked of governance agents before money is committed.
 * @param total of the buy, as it is to be
 * @param before of the buy as it was; nothing of one that is new
 */
export const commitmentOf = (tool: string, buy: MediaBuy, total: number, before?: number): Commitment => ({
  tool,
  phase: before === undefined ? "purchase" : "modification",
  accountId: buy.account_id,
  planId: buy.terms.plan_id,
  context: buy.terms.governance_context,
  invoiceRecipient: buy.terms.invoice_recipient,
  planned: {
    ...(before !== undefined && { media_buy_id: buy.media_buy_id }),
    start_time: startOf(buy),
    end_time: endOf(buy),
    total_budget: total,
    currency: buy.currency,
  },
  increase: Math.max(0, total - (before ?? 0)),
});

/** A buy as the ad server gets it. */
export const orderFor = (call: BehaviourCall, buy: MediaBuy): Order => ({
  mediaBuyId: buy.media_buy_id,
  principal: call.principal,
  accountId: buy.account_id,
  brand: buy.brand,
  currency: buy.currency,
  terms: controlsIn(buy.terms),
  lines: buy.packages.map((one) => ({
    packageId: one.package_id,
    productId: one.product_id,
    pricingOptionId: one.pricing_option_id,
    budget: one.budget,
    currency: one.currency,
    ...(one.bid_price !== undefined && { bid: one.bid_price }),
    start: one.start_time,
    end: one.end_time,
    paused: buy.paused || one.paused,
    canceled: one.canceled === true || buy.fixed === "canceled",
    creativeIds: one.creative_assignments.map(({ creative_id }) => creative_id),
    assignments: one.creative_assignments,
    terms: one.terms,
  })),
});
