/** Plans over several products, which a buyer may refine, finalize and buy as a whole. */
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Fixture } from "../../documents.js";
import type { Call } from "../../handler.js";
import { findProduct, type Product } from "./products.js";

export interface Allocation {
  readonly product_id: string;
  readonly allocation_percentage: number;
  readonly pricing_option_id?: string;
  readonly rationale?: string;
}

export interface Proposal {
  readonly proposal_id: string;
  readonly name: string;
  readonly description: string;
  readonly allocations: readonly Allocation[];
  readonly proposal_status: "draft" | "committed";
  readonly expires_at?: string;
  readonly total_budget_guidance?: JsonObject;
}

const KIND = "proposal";

/** How long a finalized proposal holds its inventory. */
const HOLD_MS = 7 * 86_400_000;

export const proposalFixture = (proposal: Proposal): Fixture => ({
  kind: KIND,
  owner: "",
  id: proposal.proposal_id,
  body: proposal,
});

/** The plan as this caller last left it; what all callers start from where it did nothing. */
export const findProposal = (call: Call, id: string): Proposal | undefined =>
  call.documents.get<Proposal>(KIND, call.principal, id) ?? call.documents.get<Proposal>(KIND, "", id);

/** @throws ToolError REFERENCE_NOT_FOUND, PROPOSAL_EXPIRED */
export function proposal(call: Call, id: string, field: string): Proposal {
  const found = findProposal(call, id);
  if (found === undefined) throw new ToolError("REFERENCE_NOT_FOUND", `no proposal ${id}`, { field });
  if (found.expires_at !== undefined && Date.parse(found.expires_at) < call.now.getTime())
    throw new ToolError("PROPOSAL_EXPIRED", `proposal ${id} expired at ${found.expires_at}`, { field });
  return found;
}

export const saveProposal = (call: Call, kept: Proposal): void =>
  call.documents.put(KIND, call.principal, kept.proposal_id, kept);

/** Plans whose products are all among those found. */
export function proposalsFor(call: Call, found: readonly Product[]): Proposal[] {
  const ids = new Set(found.map(({ product_id }) => product_id));
  const known = new Map(
    [...call.documents.list<Proposal>(KIND, ""), ...call.documents.list<Proposal>(KIND, call.principal)].map((one) => [
      one.proposal_id,
      one,
    ]),
  );
  return [...known.values()].filter(({ allocations }) => allocations.some(({ product_id }) => ids.has(product_id)));
}

/** The seller commits itself: prices and inventory are held until the plan expires. */
export function finalize(call: Call, draft: Proposal): Proposal {
  const held: Proposal = {
    ...draft,
    proposal_status: "committed",
    expires_at: new Date(call.now.getTime() + HOLD_MS).toISOString(),
  };
  saveProposal(call, held);
  return held;
}

/** What share of a plan goes where, after "shift N% to <channel>" or "drop <channel>". The rest keeps its proportions. */
export function shift(call: Call, draft: Proposal, ask: string): Proposal | undefined {
  const words = ask.toLowerCase();
  const channelOf = ({ product_id }: Allocation) => findProduct(call, product_id)?.channels ?? [];
  const dropped = /\b(?:drop|remove|omit)\s+(?:the\s+)?(\w+)/.exec(words)?.[1];
  const remaining = draft.allocations.filter((one) => dropped === undefined || !channelOf(one).includes(dropped));
  const share = /(\d{1,3})\s*%[^.]*?\bto\s+(?:the\s+)?(\w+)/.exec(words);
  const target = share === null ? undefined : remaining.find((one) => channelOf(one).includes(share[2]!));
  if (remaining.length === 0 || (target === undefined && remaining.length === draft.allocations.length))
    return undefined;
  const fixed = target === undefined ? 0 : Math.min(Number(share![1]), 100);
  const others = remaining.filter((one) => one !== target);
  const sum = others.reduce((total, { allocation_percentage }) => total + allocation_percentage, 0);
  const scaled = remaining.map((one) =>
    one === target
      ? { ...one, allocation_percentage: others.length === 0 ? 100 : fixed }
      : { ...one, allocation_percentage: Math.round(((100 - fixed) * one.allocation_percentage * 100) / sum) / 100 },
  );
  return { ...draft, allocations: scaled.filter(({ allocation_percentage }) => allocation_percentage > 0) };
}
