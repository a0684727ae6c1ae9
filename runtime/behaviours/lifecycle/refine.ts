import type { JsonObject } from "../../contract/index.js";
import { cents } from "../delivery/simulated.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { findProduct, shownProduct } from "../products/products.js";
import {
  type CommercialTerms,
  type Money,
  type Negotiated,
  negotiatedOf,
  saveNegotiated,
  shownNegotiated,
  termsDigest,
} from "../products/terms.js";
import { statedBudget } from "./brief.js";
import { DRAFT_MS } from "./request.js";

interface Refinement {
  readonly proposal_id: string;
  readonly action: "revise" | "finalize";
  readonly ask?: string;
  readonly constraints?: {
    readonly total_budget?: { readonly max?: number; readonly min?: number; readonly currency?: string };
    readonly flight?: { readonly start_no_later_than?: string; readonly end_no_earlier_than?: string };
  };
}

/** How long a finalized proposal holds its prices, in milliseconds. */
const HOLD_MS = 7 * 86_400_000;

/** `refine_proposals`: a draft is revised, or made a commitment of the seller's. */
export const refineProposals: ToolBehaviour = async (
  request: { readonly refinements: readonly Refinement[] },
  call,
) => {
  const results: JsonObject[] = [];
  const ids = new Set<string>();
  for (const [index, one] of request.refinements.entries()) {
    const found = await negotiatedOf(call, one.proposal_id, `refinements[${index}].proposal_id`);
    for (const { product_id } of found.commercial_terms.purchases) ids.add(product_id);
    results.push(one.action === "finalize" ? finalized(call, found) : revised(call, found, one));
  }
  const products: JsonObject[] = [];
  for (const id of ids) {
    const one = await findProduct(call, id);
    if (one !== undefined) products.push(await shownProduct(call, one));
  }
  return call.answer({ status: "completed", results, products });
};

function follow(call: BehaviourCall, from: Negotiated, change: Partial<Negotiated>): Negotiated {
  const commercial_terms = change.commercial_terms ?? from.commercial_terms;
  const next: Negotiated = {
    ...from,
    ...change,
    proposal_id: call.id("prop"),
    parent_proposal_id: from.proposal_id,
    commercial_terms,
    terms_digest: termsDigest(commercial_terms),
  };
  saveNegotiated(call, next);
  return next;
}

const unable = (found: Negotiated, reason: string): JsonObject => ({
  source_proposal_id: found.proposal_id,
  outcome: "unable",
  reason_code: "other",
  reason,
});

function finalized(call: BehaviourCall, found: Negotiated): JsonObject {
  if (found.state === "accepted") return unable(found, "It was accepted before.");
  const expires_at = new Date(call.now.getTime() + HOLD_MS).toISOString();
  const proposal = follow(call, found, { state: "committed", expires_at });
  return { source_proposal_id: found.proposal_id, outcome: "finalized", proposal: shownNegotiated(proposal) };
}

/** The sum that a revision asks for: as a limit, or in words. */
function wantedTotal({ total_budget: now }: CommercialTerms, { constraints, ask }: Refinement): Money | undefined {
  const limits = constraints?.total_budget;
  const amount = now?.amount ?? 0;
  if (limits?.max !== undefined && limits.max < amount)
    return { amount: limits.max, currency: limits.currency ?? now!.currency };
  if (limits?.min !== undefined && limits.min > amount)
    return { amount: limits.min, currency: limits.currency ?? now!.currency };
  return ask === undefined ? undefined : statedBudget(ask);
}

/** What can be granted by machine: another sum, and another flight; the rest of a wish takes a person. */
function revised(call: BehaviourCall, found: Negotiated, wanted: Refinement): JsonObject {
  const terms = found.commercial_terms;
  if (found.state === "accepted") return unable(found, "Change the media buy it became.");
  const total = wantedTotal(terms, wanted);
  const { start_no_later_than: start, end_no_earlier_than: end } = wanted.constraints?.flight ?? {};
  const before = terms.total_budget;
  if (total !== undefined && total.currency !== before?.currency)
    return unable(found, `Its prices are in ${before?.currency}.`);
  if (total === undefined && start === undefined && end === undefined)
    return unable(found, "Name another sum, or other dates; for anything else request a new proposal.");
  const flight = {
    ...(start !== undefined && start < terms.start_time && { start_time: start }),
    ...(end !== undefined && end > terms.end_time && { end_time: end }),
  };
  const scale = total === undefined || before === undefined ? 1 : total.amount / before.amount;
  const purchases = terms.purchases.map((one) => ({
    ...one,
    ...flight,
    ...(one.budget !== undefined && { budget: cents(one.budget * scale) }),
  }));
  const commercial_terms: CommercialTerms = {
    ...terms,
    ...flight,
    purchases,
    ...(total !== undefined && { total_budget: total }),
  };
  const expires_at = new Date(call.now.getTime() + DRAFT_MS).toISOString();
  const proposal = follow(call, found, { state: "draft", commercial_terms, expires_at });
  return { source_proposal_id: found.proposal_id, outcome: "revised", proposals: [shownNegotiated(proposal)] };
}
