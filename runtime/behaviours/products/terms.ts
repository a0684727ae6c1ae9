/** Commercial terms that a buyer and the seller negotiate: what is bought, at which price, when; and the digest they go by. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { PricingOption } from "../ports/catalogue.js";
import { checkOpen } from "./proposal-ends.js";

export interface Money {
  readonly amount: number;
  readonly currency: string;
}

export interface Purchase extends JsonObject {
  readonly product_id: string;
  readonly pricing_option_id: string;
  readonly pricing?: PricingOption;
  readonly budget?: number;
  readonly daily_budget_cap?: number;
  readonly start_time?: string;
  readonly end_time?: string;
}

export interface CommercialTerms extends JsonObject {
  readonly brand?: JsonObject;
  readonly purchases: readonly Purchase[];
  readonly start_time: string;
  readonly end_time: string;
  readonly total_budget?: Money;
}

export interface Negotiated {
  readonly proposal_id: string;
  readonly parent_proposal_id?: string;
  readonly name: string;
  /** Declined: the buyer has said no, and nothing follows from it any more. */
  readonly state: "draft" | "committed" | "accepted" | "declined";
  readonly commercial_terms: CommercialTerms;
  readonly terms_digest: string;
  readonly expires_at: string;
  readonly accepted_at?: string;
  /** What it became; of one that changes or ends a media buy, that one. */
  readonly media_buy_id?: string;
  readonly change?: "media_buy_update" | "media_buy_cancellation";
  /** The buyer's planning that it was asked for in. */
  readonly opportunity_id?: string;
  /** The buy's, when the change was drafted: it is made of no other. */
  readonly base_media_buy_revision?: number;
}

const kept = collection<Negotiated>("negotiated_proposal");
/** Plans of the catalogue as terms: drafts that others may be made of, and that are bought by their own name as before. */
const planned = collection<Negotiated>("planned_proposal");

export const savePlanned = (call: BehaviourCall, one: Negotiated): void =>
  planned.put(call, call.principal, one.proposal_id, one);

export const findNegotiated = (call: BehaviourCall, id: string): Promise<Negotiated | undefined> =>
  kept.get(call, call.principal, id);

export const saveNegotiated = (call: BehaviourCall, one: Negotiated): void =>
  kept.put(call, call.principal, one.proposal_id, one);

/** RFC 8785, SHA-256, base64url. */
export const termsDigest = (terms: CommercialTerms): string =>
  `sha256:${createHash("sha256")
    .update(canonicalize(terms) ?? "")
    .digest("base64url")}`;

const isExpired = ({ now }: BehaviourCall, { expires_at }: Negotiated): boolean =>
  Date.parse(expires_at) <= now.getTime();

/** One that is negotiated already, or a plan of the catalogue that may be. */
export const findNegotiable = async (call: BehaviourCall, id: string): Promise<Negotiated | undefined> =>
  (await findNegotiated(call, id)) ?? planned.get(call, call.principal, id);

/** @throws ToolError PROPOSAL_NOT_FOUND, INVALID_STATE for one that was declined */
export async function negotiatedOf(call: BehaviourCall, id: string, field: string): Promise<Negotiated> {
  const found = await findNegotiable(call, id);
  if (found === undefined) throw new ToolError("PROPOSAL_NOT_FOUND", `no proposal ${id}`, { field });
  if (found.state === "declined") await checkOpen(call, id, field);
  return found;
}

/**
 * A proposal that may be bought.
 * @throws ToolError PROPOSAL_NOT_FOUND, PROPOSAL_NOT_COMMITTED, PROPOSAL_EXPIRED, INVALID_STATE
 */
export async function committedOf(call: BehaviourCall, id: string, field: string): Promise<Negotiated> {
  const found = await negotiatedOf(call, id, field);
  await checkOpen(call, id, field);
  if (isExpired(call, found))
    throw new ToolError("PROPOSAL_EXPIRED", `proposal ${id} held until ${found.expires_at}`, { field });
  if (found.state === "draft")
    throw new ToolError("PROPOSAL_NOT_COMMITTED", `proposal ${id} is a draft: finalize it first`, { field });
  return found;
}

/** The planning of a buyer's that a request is part of. */
export interface Opportunity {
  readonly opportunity_id?: string;
}

/** @throws ToolError INVALID_REQUEST for a proposal that was asked for in other planning than is named */
export function checkOpportunity(proposal: Negotiated, named: Opportunity | undefined): void {
  const { proposal_id: id, opportunity_id: own } = proposal;
  if (named?.opportunity_id === undefined || own === undefined || own === named.opportunity_id) return;
  throw new ToolError("INVALID_REQUEST", `proposal ${id} belongs to another opportunity`, {
    field: "opportunity.opportunity_id",
  });
}

/** A proposal as answers show it. */
export const shownNegotiated = ({ state, change, ...one }: Negotiated): JsonObject => ({
  ...one,
  proposal_kind: change ?? "new_media_buy",
  proposal_status: state,
});
