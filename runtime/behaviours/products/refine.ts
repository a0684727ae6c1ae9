/** What a buyer asks of an earlier answer, one change request after the other. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Product, Proposal } from "../ports/catalogue.js";
import { finalize, findProposal, proposalsFor, saveProposal, shift } from "./proposals.js";
import { briefWords, relevance } from "./relevance.js";

export type Refinement = JsonObject;

interface State {
  products: Product[];
  proposals: Map<string, Proposal>;
}

/** @param known those that may be named, beside what was found */
export async function applyRefinements(
  call: BehaviourCall,
  changes: readonly Refinement[],
  { found, known }: { readonly found: readonly Product[]; readonly known: readonly Product[] },
) {
  const named = changes.flatMap((change) => ("product_id" in change ? [String(change.product_id)] : []));
  const products = [...found, ...known.filter((one) => named.includes(one.product_id))];
  const state: State = {
    products: products.filter((one, index) => products.findIndex((two) => two.product_id === one.product_id) === index),
    proposals: new Map((await proposalsFor(call, products)).map((one) => [one.proposal_id, one])),
  };
  const applied: JsonObject[] = [];
  checkAlone(changes);
  for (const [index, change] of changes.entries()) applied.push(await apply(call, change, { state, index }));
  return { kept: state.products, proposals: [...state.proposals.values()], applied };
}

/** @throws ToolError INVALID_REQUEST where a commitment is asked for together with changes */
function checkAlone(changes: readonly Refinement[]): void {
  const other = changes.findIndex(({ action }) => action !== "finalize");
  if (other < 0 || changes.every(({ action }) => action !== "finalize")) return;
  throw new ToolError("INVALID_REQUEST", "finalize stands alone: change first, then finalize", {
    field: `refine[${other}]`,
  });
}

async function apply(
  call: BehaviourCall,
  change: JsonObject,
  at: { readonly state: State; readonly index: number },
): Promise<JsonObject> {
  const { state } = at;
  if (change.scope === "product") return applyToProduct(change, state);
  if (change.scope === "proposal") return applyToProposal(call, change, at);
  return applyToRequest(String(change.ask), state);
}

function applyToRequest(ask: string, state: State): JsonObject {
  const wanted = briefWords(ask);
  const only = /\bonly\b/i.test(ask);
  const textOf = (one: Product) => `${one.name} ${one.description} ${one.channels.join(" ")} ${one.delivery_type}`;
  const type = /\bnon[- _]guaranteed\b/i.test(ask)
    ? "non_guaranteed"
    : /\bguaranteed\b/i.test(ask)
      ? "guaranteed"
      : undefined;
  if (only && type !== undefined) {
    const left = state.products.filter(({ delivery_type }) => delivery_type === type);
    if (left.length === 0) return { scope: "request", status: "unable", notes: `Nothing here is ${type}.` };
    state.products = left;
    return { scope: "request", status: "partial", notes: `Kept what is ${type}; the rest of the wish is noted.` };
  }
  const best = state.products.filter((one) => relevance(wanted, textOf(one)) > 0);
  if (best.length === 0) return { scope: "request", status: "unable", notes: "Nothing on offer answers that." };
  state.products = [...best, ...state.products.filter((one) => !best.includes(one))];
  return { scope: "request", status: "partial", notes: "What answers the wish comes first." };
}

function applyToProduct(change: JsonObject, state: State): JsonObject {
  const id = String(change.product_id);
  const result = { scope: "product", product_id: id };
  const one = state.products.find(({ product_id }) => product_id === id);
  if (one === undefined) return { ...result, status: "unable", notes: `There is no product ${id}.` };
  if (change.action === "omit") {
    state.products = state.products.filter((other) => other !== one);
    return { ...result, status: "applied" };
  }
  state.products = [one, ...state.products.filter((other) => other !== one)];
  const noted = change.ask !== undefined;
  return { ...result, status: noted ? "partial" : "applied", ...(noted && { notes: "Set budgets when you buy." }) };
}

async function applyToProposal(
  call: BehaviourCall,
  change: JsonObject,
  { state, index }: { readonly state: State; readonly index: number },
): Promise<JsonObject> {
  const id = String(change.proposal_id);
  const result = { scope: "proposal", proposal_id: id };
  const draft = await findProposal(call, id);
  if (draft === undefined) {
    if (call.shapes.knowsError("PROPOSAL_NOT_FOUND"))
      throw new ToolError("PROPOSAL_NOT_FOUND", `no proposal ${id}`, { field: `refine[${index}].proposal_id` });
    return { ...result, status: "unable", notes: `There is no proposal ${id}.` };
  }
  if (change.action === "omit") {
    state.proposals.delete(id);
    return { ...result, status: "applied" };
  }
  if (change.action === "finalize") {
    state.proposals = new Map([[id, finalize(call, draft)]]);
    return { ...result, status: "applied", notes: "Prices and inventory are held until it expires." };
  }
  const changed = typeof change.ask === "string" ? await shift(call, draft, change.ask) : draft;
  if (changed !== undefined && changed !== draft) saveProposal(call, { ...changed, proposal_status: "draft" });
  state.proposals.set(id, changed ?? draft);
  if (changed === undefined)
    return { ...result, status: "unable", notes: "Name a share and a channel, or one to drop." };
  return { ...result, status: "applied" };
}
