/** What was asked, and what came of it, under each plan: the audit trail, and the money that is bound. */
import type { Call } from "../../handler.js";
import type { Decision, Finding } from "./judge.js";

export interface CheckEntry {
  readonly type: "check";
  readonly id: string;
  readonly timestamp: string;
  readonly plan_id: string;
  readonly governance_context: string;
  readonly check_type: "intent" | "execution";
  readonly phase: "purchase" | "modification" | "delivery";
  readonly purchase_type: string;
  readonly caller: string;
  readonly tool?: string;
  readonly decision: Decision;
  readonly amount: number;
  readonly explanation: string;
  readonly findings: readonly Finding[];
  readonly human: boolean;
  /** The arguments judged, to compare delivery with. */
  readonly request: { readonly payload?: object; readonly planned_delivery?: object; readonly tool?: string };
}

export interface OutcomeEntry {
  readonly type: "outcome";
  readonly id: string;
  readonly timestamp: string;
  readonly plan_id: string;
  readonly governance_context: string;
  readonly purchase_type: string;
  readonly outcome: "completed" | "failed" | "delivery";
  readonly state: "accepted" | "findings";
  readonly committed: number;
  readonly findings: readonly Finding[];
  readonly seller_reference?: string;
}

export type Entry = CheckEntry | OutcomeEntry;

const KIND = "governance_entry";

const owner = (call: Call, planId: string): string => `${call.principal}/${planId}`;

/** Everything under a plan, oldest first. */
export const entriesOf = (call: Call, planId: string): Entry[] => call.documents.list<Entry>(KIND, owner(call, planId));

export const record = (call: Call, entry: Entry): void =>
  call.documents.put(KIND, owner(call, entry.plan_id), entry.id, entry);

const isOutcome = (entry: Entry): entry is OutcomeEntry => entry.type === "outcome";
export const isCheck = (entry: Entry): entry is CheckEntry => entry.type === "check";

/** What one action has bound: its last completed outcome counts, a failed one releases it. */
export function committedBy(entries: readonly Entry[], context: string): number {
  const last = entries
    .filter(isOutcome)
    .filter((entry) => entry.governance_context === context && entry.outcome !== "delivery")
    .at(-1);
  return last?.outcome === "completed" ? last.committed : 0;
}

/** Money bound under a plan, by purchase type. */
export function committed(entries: readonly Entry[]): { [purchase: string]: number } {
  const totals: { [purchase: string]: number } = {};
  const contexts = new Map(entries.map((entry) => [entry.governance_context, entry.purchase_type]));
  for (const [context, purchase] of contexts)
    totals[purchase] = (totals[purchase] ?? 0) + committedBy(entries, context);
  return totals;
}

/** The last check of an action that let it go ahead. */
export const approvedCheck = (entries: readonly Entry[], context: string | undefined): CheckEntry | undefined =>
  entries
    .filter(isCheck)
    .filter(({ phase, decision }) => phase !== "delivery" && decision !== "denied")
    .filter((entry) => context === undefined || entry.governance_context === context)
    .at(-1);
