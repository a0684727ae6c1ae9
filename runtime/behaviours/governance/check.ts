/** `check_governance`: may this action go ahead, as proposed, as the seller will run it, or as it is being delivered? */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { summed } from "../frame/currency.js";
import { type CheckAddress, checkConsultation, consult, planFor } from "./addressed.js";
import { type DeliveryMetrics, judgeDelivery } from "./drift.js";
import { judgeAction, sameCurrency } from "./judge.js";
import { approvedCheck, type CheckEntry, committedBy, type Entry, entriesOf, isCheck, record } from "./ledger.js";
import type { SpendingPlan } from "./plan.js";
import { categories, type KeptPlan, policyIds, readPolicies } from "./plans.js";
import { portfoliosOver, sharedCaps, withShared } from "./portfolio.js";
import { type ProposedAction, readProposal } from "./proposal.js";
import { boundWhere, moneyBound, spendingUnder, untoldOf } from "./spending.js";
import { statementIn } from "./statements.js";
import { APPROVAL_MS, issueToken } from "./token.js";
import type { Judgement } from "./verdict.js";

interface Check extends CheckAddress {
  readonly purchase_type?: string;
  readonly payload?: JsonObject;
  readonly proposal?: JsonObject;
  readonly planned_delivery?: JsonObject & { readonly media_buy_id?: string };
  readonly delivery_metrics?: DeliveryMetrics;
  readonly proposed_commitment?: { readonly amount: number; readonly currency?: string };
  readonly execution_commitment?: { readonly amount: number; readonly currency?: string };
  readonly phase?: CheckEntry["phase"];
  readonly human_approval?: JsonObject;
  readonly ext?: JsonObject;
}

/** When delivery is to be looked at again. */
const NEXT_CHECK_MS = 7 * 24 * 3_600_000;

const later = ({ now }: BehaviourCall, ms: number): string => new Date(now.getTime() + ms).toISOString();

/** Releases have people's approvals in the request, or beside it. */
function approvedByHuman({ human_approval: own, ext }: Check): boolean {
  const given = own ?? (ext?.human_approval as JsonObject | undefined);
  return given != null && given.approved !== false;
}

/** Not an action: how much is left. */
function budgetLeft({ plan: { budget } }: KeptPlan, spent: number): Judgement {
  const explanation = `${summed([budget.total, -spent])} of ${budget.total} ${budget.currency} are left.`;
  const findings = [{ category_id: "budget_authority", severity: "info" as const, explanation }];
  return { decision: "approved", findings, conditions: [] };
}

/** Who gets the money: whoever will be shown the approval, or says what it will deliver. */
const sellerIn = ({ planned_delivery: planned, caller, target_agent: target }: Check): string | undefined =>
  planned === undefined ? target : caller;

interface Judging {
  readonly kept: KeptPlan;
  /** The plan with what its portfolios lay on it. */
  readonly plan: SpendingPlan;
  readonly portfolios: readonly KeptPlan[];
  readonly entries: readonly Entry[];
  readonly proposal: ProposedAction;
}

async function judge(call: BehaviourCall, request: Check, judging: Judging): Promise<Judgement> {
  const { kept, plan, portfolios, entries, proposal } = judging;
  const { governance_context: context, delivery_metrics: metrics } = request;
  const spending = await spendingUnder(call, kept, entries);
  const spent = moneyBound(spending, entries);
  if (request.phase === "delivery") {
    if (metrics === undefined)
      throw new ToolError("INVALID_REQUEST", "a check of delivery needs delivery_metrics", {
        field: "delivery_metrics",
      });
    if (!sameCurrency(plan, metrics.currency))
      throw new ToolError("INVALID_REQUEST", `the plan is in ${plan.budget.currency}: state what is spent in it`, {
        field: "delivery_metrics.currency",
      });
    const before = approvedCheck(entries, context) ?? approvedCheck(entries, undefined);
    return judgeDelivery({
      plan,
      metrics,
      policies: await readPolicies(call, plan),
      approved: before === undefined ? undefined : readProposal(before.request),
      budget: committedBy(entries, context ?? "") || before?.amount || plan.budget.total,
    });
  }
  const action = request.payload ?? request.planned_delivery;
  if (action === undefined) return budgetLeft(kept, summed(Object.values(spent)));
  // What was carried out of an intent before bounds nothing: the intent itself does.
  const intents = entries.filter((entry) => isCheck(entry) && entry.check_type === "intent");
  const ceiling = request.execution_commitment === undefined ? undefined : approvedCheck(intents, context)?.amount;
  return judgeAction(plan, proposal, {
    ...(ceiling !== undefined && { ceiling }),
    phase: request.phase ?? "purchase",
    caller: request.caller,
    seller: sellerIn(request),
    atSeller: boundWhere(spending, entries, {
      says: ({ seller }) => seller !== undefined && seller === sellerIn(request),
      own: context,
    }),
    byCaller: boundWhere(spending, entries, {
      says: ({ caller, check_type }) => check_type === "intent" && caller === request.caller,
      own: context,
    }),
    execution: request.planned_delivery !== undefined,
    committed: spent,
    caps: await sharedCaps(call, portfolios),
    // What was ordered without a token is another action.
    before: context === undefined ? 0 : summed([committedBy(entries, context), untoldOf(spending, entries, context)]),
    approvedByHuman: approvedByHuman(request),
    now: call.now.getTime(),
    policies: await readPolicies(call, plan, action),
  });
}

const summaries = {
  approved: "The action is within the plan.",
  conditions: "The action may go ahead once the conditions are met and it has been checked again.",
  denied: "The action is not allowed by the plan.",
};

const explain = ({ decision, findings }: Judgement): string =>
  [
    summaries[decision],
    ...findings.flatMap(({ severity, explanation }) => (severity === "info" ? [] : explanation)),
  ].join(" ");

/** Whether the caller speaks of the money at stake, or of what runs: then conditions are proposals, and authorize nothing. */
const isSplit = (call: BehaviourToolCall, request: Check): boolean =>
  call.shape.has("check_type") &&
  (request.proposed_commitment !== undefined ||
    request.consultation_context !== undefined ||
    request.planned_delivery !== undefined);

/** What runs already is allowed or not: what is to be put right is said in findings. */
const decided = (judgement: Judgement): Judgement =>
  judgement.decision === "conditions" ? { ...judgement, decision: "approved", conditions: [] } : judgement;

export const checkGovernance: ToolBehaviour = async (request: Check, call) => {
  const kept = await planFor(call, request);
  const portfolios = await portfoliosOver(call, kept);
  const plan = withShared(kept.plan, portfolios);
  const proposal = readProposal(request);
  await checkConsultation(call, request, { kept, purchase: proposal.purchase });
  const entries = await entriesOf(call, kept);
  const split = isSplit(call, request);
  const execution = request.planned_delivery !== undefined;
  const found = await judge(call, request, { kept, plan, portfolios, entries, proposal });
  const judgement = split && execution ? decided(found) : found;
  const checkId = call.id("chk");
  const given = authorization(call, request, { kept, purchase: proposal.purchase, judgement, checkId, split });
  const statement =
    request.delivery_metrics === undefined
      ? undefined
      : statementIn(entries, given.action, {
          metrics: request.delivery_metrics,
          reference: request.planned_delivery?.media_buy_id,
        });
  const explanation = explain(judgement);
  const { decision, findings, conditions } = judgement;
  record(call, kept, {
    type: "check",
    id: checkId,
    order: entries.length,
    timestamp: call.time,
    plan_id: plan.plan_id,
    governance_context: given.action,
    check_type: execution ? "execution" : "intent",
    phase: request.phase ?? "purchase",
    purchase_type: proposal.purchase,
    caller: request.caller,
    seller: sellerIn(request),
    ...toolOf(request, entries, given.action),
    decision,
    amount: proposal.amount,
    explanation,
    findings,
    human: approvedByHuman(request),
    request: { payload: request.payload, planned_delivery: request.planned_delivery, tool: request.tool },
    ...(statement !== undefined && { statement }),
  });
  return call.answer({
    check_id: checkId,
    ...(call.shape.has("verdict") ? { verdict: decision } : { status: decision }),
    ...(split && { check_type: execution ? "execution" : "intent" }),
    plan_id: plan.plan_id,
    explanation,
    mode: "enforce",
    categories_evaluated: categories,
    policies_evaluated: policyIds(plan),
    ...(findings.length > 0 && { findings }),
    ...(conditions.length > 0 && { conditions }),
    ...(statement !== undefined && { delivery_statement: statement }),
    ...given.shown,
  });
};

/** An execution has the tool of the intent that it carries out. */
function toolOf({ tool }: Check, entries: readonly Entry[], action: string): { readonly tool?: string } {
  const own = tool ?? approvedCheck(entries, action)?.tool;
  return own === undefined ? {} : { tool: own };
}

/** What the caller may go on with: a token, or the handle of a negotiation. */
function authorization(
  call: BehaviourCall,
  request: Check,
  at: {
    readonly kept: KeptPlan;
    readonly purchase: string;
    readonly judgement: Judgement;
    readonly checkId: string;
    readonly split: boolean;
  },
): { readonly action: string; readonly shown: JsonObject } {
  const { kept, judgement, checkId, split } = at;
  const { decision } = judgement;
  const { plan_id } = kept.plan;
  if (split && decision !== "approved") {
    if (decision === "denied") return { action: request.governance_context ?? checkId, shown: {} };
    return { action: checkId, shown: { consultation_context: consult(call, request, at) } };
  }
  const expires = later(call, APPROVAL_MS);
  const claims = {
    plan_id,
    check_id: checkId,
    decision,
    phase: request.phase ?? "purchase",
    aud: request.target_agent ?? request.caller,
    exp: Math.floor(Date.parse(expires) / 1_000),
  };
  const token =
    request.governance_context ??
    issueToken(call, claims, { owner: kept.owner, bound: request.target_agent !== undefined });
  const next = decision === "denied" ? {} : { expires_at: expires, next_check: later(call, NEXT_CHECK_MS) };
  return { action: token, shown: { governance_context: token, ...next } };
}
