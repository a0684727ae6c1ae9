/** `report_plan_adjustment`: what a seller gives back of an outcome, and whether the plan's owner takes it so. */
import canonicalize from "canonicalize";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourToolCall } from "../frame/call.js";
import { summed } from "../frame/currency.js";
import {
  type AdjustmentEntry,
  type Entry,
  entriesOf,
  isAdjustment,
  isOutcome,
  planAccounts,
  record,
} from "./ledger.js";
import type { SpendingPlan } from "./plan.js";
import { type KeptPlan, planOf } from "./plans.js";

interface Reported {
  readonly outcome_id: string;
  readonly seller_reference: string;
  readonly seller_adjustment_id: string;
  readonly adjustment_type: AdjustmentEntry["kind"];
  readonly amount: { readonly amount: number; readonly currency: string };
  readonly evidence: { readonly evidence_id: string };
}

type Wanted = { readonly plan_id: string } & (
  | ({ readonly action: "report" } & Reported)
  | { readonly action: "review"; readonly adjustment_id: string; readonly decision: "accept" | "dispute" }
);

interface Under {
  readonly kept: KeptPlan;
  readonly entries: readonly Entry[];
}

const invalid = (message: string, field: string): ToolError => new ToolError("VALIDATION_ERROR", message, { field });

const conflict = (message: string, field: string): ToolError => new ToolError("CONFLICT", message, { field });

/** What was sent of it, to tell a repeat from another one of the same name. */
const reportedOf = ({ outcome_id, seller_reference, adjustment_type, amount, evidence }: Reported): JsonObject => ({
  outcome_id,
  seller_reference,
  adjustment_type,
  amount,
  evidence,
});

/**
 * The adjustment that is reported once more; undefined for one that is new.
 * @throws ToolError CONFLICT for an id of the seller's that stands for something else already
 */
function repeated(request: Reported, known: readonly AdjustmentEntry[]): AdjustmentEntry | undefined {
  const sent = canonicalize(reportedOf(request));
  for (const one of known) {
    const { seller_adjustment_id: id, ...before } = one.reported as JsonObject & Reported;
    const same = canonicalize(before) === sent;
    if (id === request.seller_adjustment_id && same) return one;
    if (id === request.seller_adjustment_id) throw conflict("another adjustment has this id", "seller_adjustment_id");
    if (before.evidence.evidence_id === request.evidence.evidence_id)
      throw conflict("this evidence is of another adjustment", "evidence.evidence_id");
  }
  return undefined;
}

/** @throws ToolError REFERENCE_NOT_FOUND, VALIDATION_ERROR, CONFLICT */
function report(call: BehaviourToolCall, request: Reported, { kept, entries }: Under): AdjustmentEntry {
  const { outcome_id, amount, adjustment_type: kind } = request;
  const source = entries.filter(isOutcome).find(({ id, outcome }) => id === outcome_id && outcome === "completed");
  if (source === undefined)
    throw new ToolError("REFERENCE_NOT_FOUND", "no completed outcome of this plan has this id", {
      field: "outcome_id",
    });
  if (source.seller_reference !== request.seller_reference)
    throw invalid("the outcome is of another resource of the seller's", "seller_reference");
  const { currency } = kept.plan.budget;
  if (amount.currency !== currency) throw invalid(`the plan is in ${currency}`, "amount.currency");
  const known = entries.filter(isAdjustment).filter((one) => one.outcome_id === outcome_id);
  const again = repeated(request, entries.filter(isAdjustment));
  if (again !== undefined) return again;
  // Of two at one time the later is judged by what the other has left.
  record(call, kept, source);
  const before = summed(known.flatMap((one) => (one.state === "disputed" ? [] : one.amount)));
  if (summed([before, amount.amount]) > source.committed)
    throw invalid(
      `${summed([source.committed, -before])} ${currency} of the outcome are left to adjust`,
      "amount.amount",
    );
  return {
    type: "adjustment",
    id: call.id("adj"),
    order: entries.length,
    timestamp: call.time,
    plan_id: kept.plan.plan_id,
    governance_context: source.governance_context,
    purchase_type: source.purchase_type,
    findings: [],
    outcome_id,
    kind,
    amount: amount.amount,
    state: "reported",
    restored: 0,
    reported: { ...reportedOf(request), seller_adjustment_id: request.seller_adjustment_id },
  };
}

/** Periods of which the last word is a dispute: the money in them is not settled. */
const isDisputed = (entries: readonly Entry[], context: string): boolean => {
  const last = new Map<string, string>();
  for (const { governance_context, reconciliation } of entries.filter(isOutcome))
    if (governance_context === context && reconciliation !== undefined)
      last.set(reconciliation.period, reconciliation.status);
  return [...last.values()].includes("disputed");
};

/** What is not going to be owed can be spent anew; what is paid back, where the plan counts what is paid. */
const restores = ({ budget }: SpendingPlan, kind: AdjustmentEntry["kind"]): boolean =>
  kind === "decommitment" || (kind !== "makegood" && budget.accounting_mode === "verified_net_cost");

/** @throws ToolError REFERENCE_NOT_FOUND, CONFLICT */
function review(
  { adjustment_id: id, decision }: { readonly adjustment_id: string; readonly decision: string },
  { kept, entries }: Under,
): AdjustmentEntry {
  const found = entries.filter(isAdjustment).find((one) => one.id === id);
  if (found === undefined)
    throw new ToolError("REFERENCE_NOT_FOUND", "no adjustment of this plan has this id", { field: "adjustment_id" });
  const state = decision === "accept" ? "verified" : "disputed";
  if (found.state !== "reported" && found.state !== state) throw conflict(`it is ${found.state} already`, "decision");
  if (found.state === state) return found;
  if (state === "verified" && isDisputed(entries, found.governance_context))
    throw conflict("what was delivered is disputed in a period that is open", "decision");
  return { ...found, state, restored: state === "verified" && restores(kept.plan, found.kind) ? found.amount : 0 };
}

export const reportAdjustment: ToolBehaviour = async (request: Wanted, call) => {
  const kept = await planOf(call, request.plan_id);
  const entries = await entriesOf(call, kept);
  const under = { kept, entries };
  const entry = request.action === "report" ? report(call, request, under) : review(request, under);
  record(call, kept, entry);
  const { currency } = kept.plan.budget;
  return call.answer({
    adjustment_id: entry.id,
    adjustment_state: entry.state,
    adjustment_type: entry.kind,
    amount: { amount: entry.amount, currency },
    headroom_restored: entry.restored,
    plan_summary: planAccounts(kept.plan, [...entries.filter(({ id }) => id !== entry.id), entry]),
  });
};
