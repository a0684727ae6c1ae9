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
import { type Constraints, unsatisfied } from "./constraints.js";
import { DRAFT_MS } from "./request.js";

interface Refinement {
  readonly proposal_id: string;
  readonly action: "revise" | "finalize";
  readonly ask?: string;
  readonly constraints?: Constraints;
}

/** How long a finalized proposal holds its prices, in milliseconds. */
const HOLD_MS = 7 * 86_400_000;

/** `refine_proposals`: a draft is revised, or made a commitment of the seller's: all that are to be, or none. */
export const refineProposals: ToolBehaviour = async (
  request: { readonly refinements: readonly Refinement[] },
  call,
) => {
  const entries: { readonly one: Refinement; readonly found: Negotiated }[] = [];
  for (const [index, one] of request.refinements.entries())
    entries.push({ one, found: await negotiatedOf(call, one.proposal_id, `refinements[${index}].proposal_id`) });
  const held = entries.every(({ one, found }) => one.action !== "finalize" || found.state === "draft");
  const results = entries.map(({ one, found }) => {
    if (one.action === "revise") return revised(call, found, one);
    if (found.state !== "draft") return unable(found, "source_unavailable", `It is ${found.state}, no draft.`);
    return held ? finalized(call, found) : unable(found, "batch_aborted", "Another of this request is no draft.");
  });
  const ids = new Set(entries.flatMap(({ found }) => found.commercial_terms.purchases.map((one) => one.product_id)));
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

/** Why something could not be done, in the release's words (`proposal-refinement-reason`). */
type ReasonCode = "constraint_unsatisfiable" | "uninterpreted" | "source_unavailable" | "batch_aborted";

const unable = (found: Negotiated, reason_code: ReasonCode, reason: string, more: JsonObject = {}): JsonObject => ({
  source_proposal_id: found.proposal_id,
  outcome: "unable",
  reason_code,
  reason,
  ...more,
});

function finalized(call: BehaviourCall, found: Negotiated): JsonObject {
  const expires_at = new Date(call.now.getTime() + HOLD_MS).toISOString();
  const proposal = follow(call, found, { state: "committed", expires_at });
  return { source_proposal_id: found.proposal_id, outcome: "finalized", proposal: shownNegotiated(proposal) };
}

/** The sum that a revision asks for: as a limit, or in words. */
function wantedTotal({ total_budget: now }: CommercialTerms, { constraints, ask }: Refinement): Money | undefined {
  const { max, min, currency } = constraints?.total_budget ?? {};
  if (now === undefined || (currency !== undefined && currency !== now.currency)) return undefined;
  if (max !== undefined && max < now.amount) return { amount: max, currency: now.currency };
  if (min !== undefined && min > now.amount) return { amount: min, currency: now.currency };
  const stated = ask === undefined ? undefined : statedBudget(ask);
  return stated?.currency === now.currency ? stated : undefined;
}

/** The terms with another sum and another flight, as far as a machine can grant them. */
function revisedTerms(terms: CommercialTerms, wanted: Refinement): CommercialTerms {
  const { start_no_later_than: start, end_no_earlier_than: end } = wanted.constraints?.flight ?? {};
  const [before, total] = [terms.total_budget, wantedTotal(terms, wanted)];
  const flight = {
    ...(start !== undefined && Date.parse(start) < Date.parse(terms.start_time) && { start_time: start }),
    ...(end !== undefined && Date.parse(end) > Date.parse(terms.end_time) && { end_time: end }),
  };
  const scale = total === undefined || before === undefined ? 1 : total.amount / before.amount;
  const purchases = terms.purchases.map((one) => ({
    ...one,
    ...flight,
    ...(one.budget !== undefined && { budget: cents(one.budget * scale) }),
  }));
  return { ...terms, ...flight, purchases, ...(total !== undefined && { total_budget: total }) };
}

/** A constraint holds of what is offered, or is named as one that does not; the rest of a wish takes a person. */
function revised(call: BehaviourCall, found: Negotiated, wanted: Refinement): JsonObject {
  if (found.state === "accepted") return unable(found, "source_unavailable", "Change the media buy that it became.");
  const terms = found.commercial_terms;
  const commercial_terms = revisedTerms(terms, wanted);
  const unsatisfied_constraints = unsatisfied(commercial_terms, wanted.constraints ?? {});
  if (unsatisfied_constraints.length > 0) {
    const reason = `Not to be had under these terms: ${unsatisfied_constraints.join(", ")}.`;
    return unable(found, "constraint_unsatisfiable", reason, { unsatisfied_constraints });
  }
  if (wanted.constraints === undefined && termsDigest(commercial_terms) === found.terms_digest)
    return unable(
      found,
      "uninterpreted",
      "Name another sum, or other dates; for anything else request a new proposal.",
    );
  const expires_at = new Date(call.now.getTime() + DRAFT_MS).toISOString();
  const proposal = follow(call, found, { state: "draft", commercial_terms, expires_at });
  return { source_proposal_id: found.proposal_id, outcome: "revised", proposals: [shownNegotiated(proposal)] };
}
