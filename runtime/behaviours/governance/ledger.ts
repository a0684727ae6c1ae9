/** What was asked, and what came of it, under each plan: the audit trail, and the money that is bound. */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection, type OwnedPart } from "../frame/collection.js";
import { summed } from "../frame/currency.js";
import type { SpendingPlan } from "./plan.js";
import type { KeptPlan } from "./plans.js";
import type { GovernanceDecision, GovernanceFinding } from "./verdict.js";

interface Common {
  readonly id: string;
  /** Its place in the trail of its plan, from 0. */
  readonly order: number;
  readonly timestamp: string;
  readonly plan_id: string;
  readonly governance_context: string;
  readonly purchase_type: string;
  readonly findings: readonly GovernanceFinding[];
}

export interface CheckEntry extends Common {
  readonly type: "check";
  readonly check_type: "intent" | "execution";
  readonly phase: "purchase" | "modification" | "delivery";
  readonly caller: string;
  /** Who sells, where the check says so. */
  readonly seller?: string | undefined;
  readonly tool?: string;
  readonly decision: GovernanceDecision;
  readonly amount: number;
  readonly explanation: string;
  readonly human: boolean;
  /** The arguments judged, to compare delivery with. */
  readonly request: JsonObject;
  /** What the seller said was delivered, as it was digested. */
  readonly statement?: JsonObject;
}

export interface OutcomeEntry extends Common {
  readonly type: "outcome";
  readonly outcome: "completed" | "failed" | "delivery";
  readonly state: "accepted" | "findings";
  readonly committed: number;
  readonly seller_reference?: string;
  /** What went wrong, as the buyer reports it: evidence of nothing, and obeyed by nobody. */
  readonly error?: JsonObject;
  /** How what the buyer saw compares with what the seller said. */
  readonly reconciliation?: { readonly status: string; readonly closed: boolean; readonly period: string };
}

export interface AdjustmentEntry extends Common {
  readonly type: "adjustment";
  readonly outcome_id: string;
  readonly kind: "decommitment" | "refund" | "credit" | "makegood";
  readonly amount: number;
  readonly state: "reported" | "verified" | "disputed";
  readonly restored: number;
  /** What was reported, as it was sent. */
  readonly reported: JsonObject;
}

export type Entry = CheckEntry | OutcomeEntry | AdjustmentEntry;

const entries = collection<Entry>("governance_entry");

/** What is kept under a plan is with who registered it. */
export const planPart = ({ owner, plan }: KeptPlan): OwnedPart => ({ principal: owner, part: plan.plan_id });

/** Everything under a plan, oldest first. */
export const entriesOf = async (call: BehaviourCall, kept: KeptPlan): Promise<Entry[]> =>
  (await entries.list(call, planPart(kept))).sort((a, b) => a.order - b.order);

/** An entry is written anew where it has changed: its place stays. */
export const record = (call: BehaviourCall, kept: KeptPlan, entry: Entry): void =>
  entries.put(call, planPart(kept), entry.id, entry);

export const isOutcome = (entry: Entry): entry is OutcomeEntry => entry.type === "outcome";
export const isCheck = (entry: Entry): entry is CheckEntry => entry.type === "check";
export const isAdjustment = (entry: Entry): entry is AdjustmentEntry => entry.type === "adjustment";

/** Says what an action has bound; a report of delivery does not. */
export const isSettling = (entry: Entry): entry is OutcomeEntry => isOutcome(entry) && entry.outcome !== "delivery";

/** What was told of one action, oldest first. */
interface ActionEntries {
  readonly settling: OutcomeEntry[];
  readonly adjustments: AdjustmentEntry[];
}

const nothingTold: ActionEntries = { settling: [], adjustments: [] };

/** By lists of entries, which stay as they were made: each action of a plan is asked about, and plans have thousands. */
const toldOfAll = new WeakMap<readonly Entry[], ReadonlyMap<string, ActionEntries>>();

function toldIn(all: readonly Entry[]): ReadonlyMap<string, ActionEntries> {
  const before = toldOfAll.get(all);
  if (before !== undefined) return before;
  const told = new Map<string, ActionEntries>();
  for (const entry of all) {
    if (!isSettling(entry) && !isAdjustment(entry)) continue;
    const { governance_context: context } = entry;
    const own = told.get(context) ?? { settling: [], adjustments: [] };
    if (isAdjustment(entry)) own.adjustments.push(entry);
    else own.settling.push(entry);
    told.set(context, own);
  }
  toldOfAll.set(all, told);
  return told;
}

/** What says what an action has bound, oldest first. */
export const settlingOf = (all: readonly Entry[], context: string): readonly OutcomeEntry[] =>
  (toldIn(all).get(context) ?? nothingTold).settling;

/** What one action has bound: its last completed outcome counts, a failed one releases it. */
function boundBy(all: readonly Entry[], context: string): number {
  const last = settlingOf(all, context).at(-1);
  return last?.outcome === "completed" ? last.committed : 0;
}

/** What one action still binds, less what verified adjustments have given back. */
export const committedBy = (all: readonly Entry[], context: string): number =>
  summed([
    boundBy(all, context),
    ...(toldIn(all).get(context) ?? nothingTold).adjustments.map(({ restored }) => -restored),
  ]);

/** Money bound under a plan, by purchase type. */
export function committed(all: readonly Entry[]): { [purchase: string]: number } {
  const totals: { [purchase: string]: number } = {};
  for (const [context, purchase] of new Map(all.map((one) => [one.governance_context, one.purchase_type])))
    totals[purchase] = summed([totals[purchase] ?? 0, committedBy(all, context)]);
  return totals;
}

/** The last check of an action that let it go ahead. */
export const approvedCheck = (all: readonly Entry[], context: string | undefined): CheckEntry | undefined =>
  all
    .filter(isCheck)
    .filter(({ phase, decision }) => phase !== "delivery" && decision !== "denied")
    .filter((entry) => context === undefined || entry.governance_context === context)
    .at(-1);

/** Where a plan's money stands. */
export function planAccounts({ budget }: SpendingPlan, all: readonly Entry[]) {
  const adjusted = all.filter(isAdjustment);
  const sumOf = (some: readonly AdjustmentEntry[]): number => summed(some.map(({ amount }) => amount));
  const contexts = [...new Set(all.map(({ governance_context }) => governance_context))];
  const gross = summed(contexts.map((context) => boundBy(all, context)));
  const verified = adjusted.filter(({ state }) => state === "verified");
  const restored = summed(verified.map((one) => one.restored));
  const bound = summed([gross, -restored]);
  return {
    accounting_mode: budget.accounting_mode ?? "gross_commitment",
    gross_committed: gross,
    adjustments_reported: sumOf(adjusted.filter(({ state }) => state === "reported")),
    adjustments_verified: sumOf(verified),
    // What is made good is paid in kind.
    net_cost: Math.max(0, summed([gross, -sumOf(verified.filter(({ kind }) => kind !== "makegood"))])),
    headroom_restored: restored,
    ledger_committed: bound,
    net_committed: bound,
    budget_remaining: Math.max(0, summed([budget.total, -bound])),
  };
}
