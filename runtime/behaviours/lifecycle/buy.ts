import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { AccountRef } from "../accounts/accounts.js";
import { buyOf } from "../buys/buys.js";
import type { BehaviourReply, BehaviourToolCall } from "../frame/call.js";
import { toldAs } from "../frame/told-as.js";
import { createMediaBuy, orderAgain } from "../media-buys/create.js";
import { findInstruction, instructionKey } from "../media-buys/instructions.js";
import { boundOverlay } from "../media-buys/targeting.js";
import { updateMediaBuy } from "../media-buys/update.js";
import { findConfigured } from "../products/configured.js";
import { productOf } from "../products/products.js";
import { endProposal } from "../products/proposal-ends.js";
import {
  type CommercialTerms,
  checkOpportunity,
  committedOf,
  findNegotiated,
  type Money,
  type Negotiated,
  type Opportunity,
  type Purchase,
  saveNegotiated,
  termsDigest,
} from "../products/terms.js";
import { feedVersions, isSameFeed } from "./list-products.js";

interface Bought extends JsonObject {
  readonly account: AccountRef;
  readonly brand?: JsonObject;
  readonly feed_version: string;
  readonly pricing_version?: string;
  readonly purchases: readonly Purchase[];
  readonly start_time: string;
  readonly end_time: string;
  readonly total_budget?: Money;
}

/**
 * `buy_products`: offers as they are published, at their published price.
 * @throws ToolError CONFLICT where the offers are not what the buyer has seen
 */
export async function buyProducts(request: Bought, call: BehaviourToolCall): Promise<BehaviourReply> {
  const versions = await feedVersions(call);
  if (request.pricing_version !== undefined && request.pricing_version !== versions.pricing_version)
    throw new ToolError("CONFLICT", "prices have changed: list the products again", { field: "pricing_version" });
  if (!isSameFeed(request.feed_version, versions, request.pricing_version !== undefined))
    throw new ToolError("CONFLICT", "the offers have changed: list the products again", { field: "feed_version" });
  const { account, purchases, idempotency_key: _k, context: _c, push_notification_config: _p, ...rest } = request;
  const start_time = rest.start_time === "asap" ? call.time : rest.start_time;
  const snapshot: Purchase[] = [];
  for (const [index, one] of purchases.entries()) {
    const { pricing_options } = await productOf(call, one.product_id, `purchases[${index}].product_id`);
    const pricing = pricing_options.find(({ pricing_option_id }) => pricing_option_id === one.pricing_option_id);
    const { targeting_overlay: given, ...other } = one;
    const overlay = boundOverlay((await findConfigured(call, one.product_id))?.overlay, given);
    snapshot.push({
      ...other,
      ...(overlay !== undefined && Object.keys(overlay).length > 0 && { targeting_overlay: overlay }),
      ...(pricing !== undefined && { pricing }),
      start_time: one.start_time ?? start_time,
      end_time: one.end_time ?? rest.end_time,
    });
  }
  const brand = request.brand ?? account.brand;
  const {
    feed_version: source_feed_version,
    pricing_version: source_pricing_version,
    brand: _b,
    paused,
    ...others
  } = rest;
  // Names, reports and whose opportunity it was are no terms of the agreement, and its digest is not over them.
  const isTerm = ([name]: [string, unknown]): boolean => call.shape.has("accepted_proposal", "commercial_terms", name);
  const terms = {
    ...Object.fromEntries(Object.entries(others).filter(isTerm)),
    start_time,
    end_time: rest.end_time,
    source_feed_version,
    ...(source_pricing_version !== undefined && { source_pricing_version }),
    ...(brand !== undefined && { brand }),
    purchases: snapshot,
  } as CommercialTerms;
  const accepted: Negotiated = {
    proposal_id: call.id("prop"),
    name: "As published",
    state: "accepted",
    commercial_terms: terms,
    terms_digest: termsDigest(terms),
    expires_at: call.time,
  };
  const order = { ...request, start_time, paused };
  return toldAs(
    () => placed(call, order, { accepted, purchases }),
    (field) => field.replace(/^packages/, "purchases"),
  );
}

interface Accepting extends JsonObject {
  readonly account: AccountRef;
  readonly proposal_id: string;
  readonly proposal_terms_digest: string;
  readonly opportunity?: Opportunity;
  readonly total_budget?: Money;
}

/**
 * `accept_proposal`: what the seller has committed itself to is bought, as it stands.
 * @throws ToolError INVALID_REQUEST for a digest of other terms, and as `committedOf` does
 */
export const acceptProposal = (request: Accepting, call: BehaviourToolCall): Promise<BehaviourReply> =>
  // What was agreed to is the proposal's.
  toldAs(
    () => accepted(request, call),
    (field) => (Object.hasOwn(request, /^\w*/.exec(field)?.[0] ?? "") ? field : "proposal_id"),
  );

async function accepted(request: Accepting, call: BehaviourToolCall): Promise<BehaviourReply> {
  const again = (await orderAgain(call)) ?? (await changeAgain(call, request));
  if (again !== undefined) return again;
  const found = await committedOf(call, request.proposal_id, "proposal_id");
  if (request.proposal_terms_digest !== found.terms_digest)
    throw new ToolError("CONFLICT", "these are not the terms of the proposal", { field: "proposal_terms_digest" });
  checkOpportunity(found, request.opportunity);
  const { total_budget: total, start_time, end_time, brand, frequency_cap } = found.commercial_terms;
  const given = request.total_budget;
  if (given !== undefined && (given.amount !== total?.amount || given.currency !== total.currency))
    throw new ToolError("INVALID_REQUEST", "the proposal is over another sum: refine it first", {
      field: "total_budget",
    });
  if (found.change === undefined) {
    // Its sum is among the terms.
    const whole = { ...request, start_time, end_time, brand: brand ?? request.account.brand };
    const { total_budget: _, ...order } = { ...whole, ...(frequency_cap !== undefined && { frequency_cap }) };
    return placed(call, order, { accepted: found, purchases: found.commercial_terms.purchases });
  }
  const { proposal_id, media_buy_id } = found;
  await endProposal(call, { proposal_id, how: "accepted", media_buy_id: media_buy_id! }, "proposal_id");
  saveNegotiated(call, { ...found, state: "accepted", accepted_at: call.time });
  return changed(call, found, request);
}

/** How a buy runs from now on, which is said with the acceptance and not agreed to before. */
const executionOf = (request: JsonObject): JsonObject =>
  Object.fromEntries(
    ["name", "daily_budget_cap", "budget_cap_timezone", "reporting_webhook"].flatMap((name) =>
      request[name] === undefined ? [] : [[name, request[name]]],
    ),
  );

/** A repetition of a call that has begun to change a media buy. */
async function changeAgain(call: BehaviourToolCall, request: Accepting): Promise<BehaviourReply | undefined> {
  const known = await findInstruction(call, await instructionKey(call));
  const found = known && (await findNegotiated(call, request.proposal_id));
  return found && changed(call, found, request);
}

/** What a proposal for a media buy that is there makes of it, as long as it is the one that the proposal was made for. */
async function changed(
  call: BehaviourToolCall,
  agreed: Negotiated,
  { account, governance_context: approval, ...rest }: Accepting,
): Promise<BehaviourReply> {
  const { media_buy_id: id = "", base_media_buy_revision: base, change, commercial_terms: terms } = agreed;
  const request = {
    account,
    media_buy_id: id,
    accepted: agreed,
    ...(base !== undefined && { revision: base }),
    ...(approval !== undefined && { governance_context: approval }),
    ...executionOf(rest),
  };
  if (change === "media_buy_cancellation") {
    const { reason } = (terms.cancellation_terms ?? {}) as { readonly reason?: string };
    return updateMediaBuy({ ...request, canceled: true, ...(reason && { cancellation_reason: reason }) }, call);
  }
  const buy = await buyOf(call, id, account);
  const running = buy.packages.filter(({ canceled }) => canceled !== true);
  const { frequency_cap: cap = null } = terms;
  const packages = running.map(({ package_id, product_id }) => {
    const line = terms.purchases.find((one) => one.product_id === product_id);
    if (line === undefined) return { package_id, canceled: true };
    const { budget, start_time, end_time, targeting_overlay: overlay } = line;
    return {
      package_id,
      ...(budget !== undefined && { budget }),
      ...(start_time && { start_time }),
      ...(end_time && { end_time }),
      ...(overlay !== undefined && { targeting_overlay: overlay }),
    };
  });
  const added = terms.purchases
    .filter(({ product_id }) => running.every((one) => one.product_id !== product_id))
    .map(({ pricing: _, ...one }) => ({ ...one, budget: one.budget ?? null }));
  const capped = cap === null && buy.terms.frequency_cap === undefined ? {} : { frequency_cap: cap };
  return updateMediaBuy({ ...request, ...capped, packages, ...(added.length > 0 && { new_packages: added }) }, call);
}

/** The order that a proposal comes to; the proposal is accepted with it. */
function placed(
  call: BehaviourToolCall,
  request: JsonObject & { readonly account: AccountRef },
  { accepted, purchases }: { readonly accepted: Negotiated; readonly purchases: readonly Purchase[] },
): Promise<BehaviourReply> {
  const { proposal_id: _, purchases: _p, feed_version: _f, pricing_version: _v, ...rest } = request;
  return createMediaBuy(
    {
      ...rest,
      brand: (request.brand ?? request.account.brand ?? {}) as JsonObject,
      start_time: String(request.start_time),
      end_time: String(request.end_time),
      packages: purchases.map(({ pricing: _pricing, ...one }) => ({ ...one, budget: one.budget ?? null })),
      accepted,
    },
    call,
  );
}
