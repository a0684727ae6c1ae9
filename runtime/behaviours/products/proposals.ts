/** Plans over several products, which a buyer may refine, finalize and buy as a whole. */
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { Allocation, Product, Proposal } from "../ports/catalogue.js";
import { divided } from "./draft.js";
import { productsOf, queryOf } from "./products.js";
import { checkOpen, endsOf } from "./proposal-ends.js";

const kept = collection<Proposal>("proposal");

/** How long a finalized proposal holds its inventory. */
const HOLD_MS = 7 * 86_400_000;

const offered = (call: BehaviourCall): Promise<readonly Proposal[]> =>
  call.once("proposals", async () => (await call.ports.catalogue.proposals?.(queryOf(call))) ?? []);

/** A plan that is offered to all, under a name that this caller has not bought or declined it by: each is bought once. */
function renewed(ends: ReadonlyMap<string, unknown>, one: Proposal): Proposal {
  let id = one.proposal_id;
  for (let again = 2; ends.has(id); again++) id = `${one.proposal_id}~${again}`;
  return id === one.proposal_id ? one : { ...one, proposal_id: id };
}

/** The plan as this caller last left it; what all callers start from where it did nothing. */
export async function findProposal(call: BehaviourCall, id: string): Promise<Proposal | undefined> {
  const own = await kept.get(call, call.principal, id);
  if (own !== undefined) return own;
  const ends = await endsOf(call);
  return (await offered(call)).map((one) => renewed(ends, one)).find(({ proposal_id }) => proposal_id === id);
}

/** @throws ToolError PROPOSAL_NOT_FOUND, PROPOSAL_EXPIRED, INVALID_STATE for one that was bought */
export async function proposalOf(call: BehaviourCall, id: string, field: string): Promise<Proposal> {
  await checkOpen(call, id, field);
  const found = await findProposal(call, id);
  if (found === undefined) {
    const code = call.shapes.knowsError("PROPOSAL_NOT_FOUND") ? "PROPOSAL_NOT_FOUND" : "REFERENCE_NOT_FOUND";
    throw new ToolError(code, `no proposal ${id}`, { field });
  }
  if (found.expires_at !== undefined && Date.parse(found.expires_at) < call.now.getTime())
    throw new ToolError("PROPOSAL_EXPIRED", `proposal ${id} expired at ${found.expires_at}`, { field });
  return found;
}

export const saveProposal = (call: BehaviourCall, proposal: Proposal): void =>
  kept.put(call, call.principal, proposal.proposal_id, proposal);

/** Plans that have a product among those found. */
export async function proposalsFor(call: BehaviourCall, found: readonly Product[]): Promise<Proposal[]> {
  const ids = new Set(found.map(({ product_id }) => product_id));
  const ends = await endsOf(call);
  const own = (await kept.list(call, call.principal)).filter(({ proposal_id }) => !ends.has(proposal_id));
  const all = [...(await offered(call)).map((one) => renewed(ends, one)), ...own];
  return [...new Map(all.map((one) => [one.proposal_id, one])).values()].filter(({ allocations }) =>
    allocations.some(({ product_id }) => ids.has(product_id)),
  );
}

/** The seller commits itself: prices and inventory are held until the plan expires. */
export function finalize(call: BehaviourCall, draft: Proposal): Proposal {
  const expires_at = new Date(call.now.getTime() + HOLD_MS).toISOString();
  const insertion_order = { io_id: `io_${draft.proposal_id}`, requires_signature: false };
  const held: Proposal = { ...draft, proposal_status: "committed", expires_at, insertion_order };
  saveProposal(call, held);
  return held;
}

/** What share of a plan goes where, after "shift N% to <channel>" or "drop <channel>". The rest keeps its proportions. */
export async function shift(call: BehaviourCall, draft: Proposal, ask: string): Promise<Proposal | undefined> {
  const words = ask.toLowerCase();
  const known = new Map((await productsOf(call)).map((one) => [one.product_id, one]));
  const channelOf = ({ product_id }: Allocation) => known.get(product_id)?.channels ?? [];
  const dropped = /\b(?:drop|remove|omit)\s+(?:the\s+)?(\w+)/.exec(words)?.[1];
  const remaining = draft.allocations.filter((one) => dropped === undefined || !channelOf(one).includes(dropped));
  const share = /(\d{1,3})\s*%[^.]*?\bto\s+(?:the\s+)?(\w+)/.exec(words);
  const target = share === null ? undefined : remaining.find((one) => channelOf(one).includes(share[2]!));
  if (remaining.length === 0 || (target === undefined && remaining.length === draft.allocations.length))
    return undefined;
  const fixed = target === undefined ? 0 : Math.min(Number(share![1]), 100);
  const others = remaining.filter((one) => one !== target);
  // To the hundredth, and to a hundred in all: three thirds are 33.34, 33.33 and 33.33.
  const parts = divided(
    { amount: 100 - fixed },
    others.map(({ allocation_percentage }) => allocation_percentage),
  );
  const scaled = remaining.map((one) =>
    one === target
      ? { ...one, allocation_percentage: others.length === 0 ? 100 : fixed }
      : { ...one, allocation_percentage: parts[others.indexOf(one)]! },
  );
  return { ...draft, allocations: scaled.filter(({ allocation_percentage }) => allocation_percentage > 0) };
}
