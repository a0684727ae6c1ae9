import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { buyState, findBuy, type MediaBuy, terminalStates } from "../buys/buys.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { DRAFT_MS } from "../products/draft.js";
import { findProduct, shownProduct } from "../products/products.js";
import { findEnd } from "../products/proposal-ends.js";
import {
  findNegotiated,
  type Negotiated,
  negotiatedOf,
  saveNegotiated,
  shownNegotiated,
  termsDigest,
} from "../products/terms.js";
import { checkRefinements, type ProposalRefinement } from "./dimensions.js";
import { revise } from "./revise.js";

/** How long a finalized proposal holds its prices, in milliseconds. */
const HOLD_MS = 7 * 86_400_000;

interface Entry {
  readonly one: ProposalRefinement;
  readonly found: Negotiated;
}

/**
 * `refine_proposals`: a proposal is revised, or a draft made a commitment of the seller's: all that are to be, or none.
 * @throws ToolError PROPOSAL_NOT_FOUND, INVALID_STATE for one that was declined, and where no draft is to be finalized
 */
export const refineProposals: ToolBehaviour = async (
  { refinements }: { readonly refinements: readonly ProposalRefinement[] },
  call,
) => {
  checkRefinements(call, refinements);
  const entries: Entry[] = [];
  for (const [index, one] of refinements.entries()) {
    const field = `refinements[${index}].proposal_id`;
    const found = await negotiatedOf(call, one.proposal_id, field);
    if (one.action === "finalize") checkDraft(found, field);
    entries.push({ one, found });
  }
  const held = new Map<string, string>();
  for (const { one, found } of entries) {
    const by = one.action === "finalize" ? await heldBy(call, found) : undefined;
    if (by !== undefined) held.set(found.proposal_id, by);
  }
  const results: JsonObject[] = [];
  const made: Negotiated[] = [];
  for (const { one, found } of entries) {
    if (one.action === "revise") results.push(await revised(call, found, { wanted: one, made }));
    else if (held.size === 0) results.push(finalized(call, found));
    else results.push(notHeld(found, held.get(found.proposal_id)));
  }
  const products = await productsIn(call, [...entries.map(({ found }) => found), ...made]);
  return call.answer({ status: "completed", results, products });
};

/** @throws ToolError INVALID_STATE */
function checkDraft({ proposal_id: id, state }: Negotiated, field: string): void {
  if (state === "draft") return;
  throw new ToolError("INVALID_STATE", `proposal ${id} is ${state}, and only a draft is finalized`, {
    field,
    details: { current_state: state },
  });
}

async function productsIn(call: BehaviourCall, proposals: readonly Negotiated[]): Promise<JsonObject[]> {
  const ids = new Set(proposals.flatMap((one) => one.commercial_terms.purchases.map(({ product_id }) => product_id)));
  const products: JsonObject[] = [];
  for (const id of ids) {
    const one = await findProduct(call, id);
    if (one !== undefined) products.push(await shownProduct(call, one));
  }
  return products;
}

function follow(call: BehaviourCall, from: Negotiated, change: Partial<Negotiated>): Negotiated {
  const commercial_terms = change.commercial_terms ?? from.commercial_terms;
  // What the source became is its own.
  const { accepted_at: _at, media_buy_id: became, ...rest } = from;
  const next: Negotiated = {
    ...rest,
    ...(from.change !== undefined && became !== undefined && { media_buy_id: became }),
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
type ReasonCode =
  | "constraint_unsatisfiable"
  | "uninterpreted"
  | "source_unavailable"
  | "alternatives_unavailable"
  | "hold_unavailable"
  | "batch_aborted";

const unable = (found: Negotiated, reason_code: ReasonCode, reason: string, more: JsonObject = {}): JsonObject => ({
  source_proposal_id: found.proposal_id,
  outcome: "unable",
  reason_code,
  reason,
  ...more,
});

interface ProposalHold {
  /** The proposal that a draft was made a commitment by. */
  readonly by: string;
}

const holds = collection<ProposalHold>("proposal_hold");

/** What already holds the terms of a draft: they are held once at a time, and not any more when they were bought. */
async function heldBy(call: BehaviourCall, { proposal_id: id }: Negotiated): Promise<string | undefined> {
  const hold = await holds.get(call, call.principal, id);
  const found = hold && (await findNegotiated(call, hold.by));
  if (found === undefined) return undefined;
  const end = await findEnd(call, found.proposal_id);
  if (end?.how === "accepted") return found.proposal_id;
  return end === undefined && Date.parse(found.expires_at) > call.now.getTime() ? found.proposal_id : undefined;
}

const notHeld = (found: Negotiated, by: string | undefined): JsonObject =>
  by === undefined
    ? unable(found, "batch_aborted", "Another of this request cannot be held.")
    : unable(found, "hold_unavailable", `Its terms are held, or were bought, as ${by}.`);

function finalized(call: BehaviourCall, found: Negotiated): JsonObject {
  const expires_at = new Date(call.now.getTime() + HOLD_MS).toISOString();
  const proposal = follow(call, found, { state: "committed", expires_at });
  holds.put(call, call.principal, found.proposal_id, { by: proposal.proposal_id });
  return { source_proposal_id: found.proposal_id, outcome: "finalized", proposal: shownNegotiated(proposal) };
}

/** The media buy that an accepted proposal became, as long as it may be changed. */
async function runningBuy(call: BehaviourCall, { state, media_buy_id: id }: Negotiated): Promise<MediaBuy | undefined> {
  const buy = state === "accepted" && id !== undefined ? await findBuy(call, id) : undefined;
  return buy === undefined || terminalStates.has(await buyState(call, buy)) ? undefined : buy;
}

/** A constraint holds of what is offered, or is named as one that does not; the rest of a wish takes a person. */
async function revised(
  call: BehaviourToolCall,
  found: Negotiated,
  { wanted, made }: { readonly wanted: ProposalRefinement; readonly made: Negotiated[] },
): Promise<JsonObject> {
  const cancels = wanted.change_kind === "cancellation";
  const buy = await runningBuy(call, found);
  if (buy === undefined && (cancels || found.state === "accepted"))
    return unable(found, "source_unavailable", "There is no media buy of it that can be changed.");
  const of = buy && { media_buy_id: buy.media_buy_id, base_media_buy_revision: buy.revision };
  const expires_at = new Date(call.now.getTime() + DRAFT_MS).toISOString();
  const draft = { state: "draft", expires_at } as const;
  const results = (some: readonly Negotiated[]): JsonObject => {
    made.push(...some);
    return { source_proposal_id: found.proposal_id, outcome: "revised", proposals: some.map(shownNegotiated) };
  };
  if (cancels) {
    const cancellation_terms = { effective_at: call.time, ...(wanted.ask && { reason: wanted.ask.slice(0, 500) }) };
    const commercial_terms = { ...found.commercial_terms, cancellation_terms };
    return results([follow(call, found, { ...draft, ...of, change: "media_buy_cancellation", commercial_terms })]);
  }
  const { drafts, unsatisfied, unmet, understood } = await revise(call, found.commercial_terms, wanted);
  if (unsatisfied.length > 0) {
    const reason = `Not to be had under these terms: ${unsatisfied.join(", ")}.`;
    return unable(found, "constraint_unsatisfiable", reason, { unsatisfied_constraints: unsatisfied });
  }
  if (!understood)
    return unable(
      found,
      "uninterpreted",
      "Name another sum, or other dates; for anything else request a new proposal.",
    );
  const change = of && { ...of, change: "media_buy_update" as const };
  const all = results(drafts.map((commercial_terms) => follow(call, found, { ...draft, ...change, commercial_terms })));
  if (Object.keys(unmet).length > 0) {
    const reason = `These products cannot be changed so: ${Object.keys(unmet).join(", ")}.`;
    const more = { reason_code: "constraint_unsatisfiable", reason, unsatisfied_product_changes: { ...unmet } };
    return { ...all, outcome: "partial", ...more };
  }
  const count = wanted.alternatives?.count ?? 1;
  if (drafts.length === count) return all;
  const reason = `There are ${drafts.length} ways to do it, and not ${count}.`;
  return { ...all, outcome: "partial", reason_code: "alternatives_unavailable", reason };
}
