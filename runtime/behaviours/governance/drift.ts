/** Compares what is delivered with what was approved. */
import type { ReadPolicy } from "./judge.js";
import type { SpendingPlan } from "./plan.js";
import type { ProposedAction } from "./proposal.js";
import type { GovernanceCondition, GovernanceFinding, Judgement } from "./verdict.js";

/** A delivery report, and what it is held to. */
export interface Delivering {
  readonly plan: SpendingPlan;
  readonly policies: readonly ReadPolicy[];
  readonly metrics: DeliveryMetrics;
  /** What had been approved, where a check is known. */
  readonly approved: ProposedAction | undefined;
  /** What the action may spend. */
  readonly budget: number;
}

export interface DeliveryMetrics {
  readonly reporting_period: { readonly start: string; readonly end: string };
  readonly spend?: number;
  readonly cumulative_spend?: number;
  readonly currency?: string;
  readonly statement_id?: string;
  readonly statement_digest?: string;
  readonly sequence?: number;
  readonly issued_at?: string;
  readonly pacing?: "ahead" | "on_track" | "behind";
  /** Percent by channel. */
  readonly channel_distribution?: { readonly [channel: string]: number };
  readonly geo_distribution?: { readonly [country: string]: number };
}

/** Drift that is looked into where no policy says how much, in percent of the planned share. */
const DEFAULT_DRIFT = 20;

/** The policy that bounds drift, or the default. */
function driftBound(policies: readonly ReadPolicy[]): { readonly percent: number; readonly policy_id?: string } {
  for (const { policy, rule } of policies)
    if (rule.kind === "drift") return { percent: rule.percent, policy_id: policy.policy_id };
  return { percent: DEFAULT_DRIFT };
}

/**
 * The share of the approved budget that a channel is held to, in percent: of a target range what is nearest to the share that it
 * has, which within the range is that share itself. Undefined where nothing was planned.
 */
function plannedShare(
  { plan, approved }: Pick<Delivering, "plan" | "approved">,
  channel: string,
  share: number,
): number | undefined {
  const target = plan.channels?.mix_targets?.[channel];
  if (target?.min_pct !== undefined || target?.max_pct !== undefined) {
    const { min_pct: least = 0, max_pct: most = 100 } = target;
    return Math.min(Math.max(share, least), most);
  }
  const lines = approved?.lines ?? [];
  const total = lines.reduce((sum, { budget }) => sum + budget, 0);
  const own = lines.filter(({ words }) => words.has(channel)).reduce((sum, { budget }) => sum + budget, 0);
  return total > 0 && own > 0 ? (100 * own) / total : undefined;
}

function driftFindings({ plan, policies, metrics, approved }: Delivering): GovernanceFinding[] {
  const { percent, policy_id } = driftBound(policies);
  return Object.entries(metrics.channel_distribution ?? {}).flatMap(([channel, share]) => {
    const planned = plannedShare({ plan, approved }, channel, share);
    if (planned === undefined || planned === share) return [];
    const drift = planned === 0 ? 100 : (100 * (share - planned)) / planned;
    if (Math.abs(drift) <= percent) return [];
    const finding: GovernanceFinding = {
      category_id: "budget_drift",
      severity: "warning",
      explanation: `${channel} has ${share} % of the spend where ${Math.round(planned)} % were planned: a drift of ${Math.round(drift)} %, beyond the ${percent} % allowed.`,
      confidence: 1,
      details: { channel, planned_pct: planned, actual_pct: share, drift_pct: drift },
      ...(policy_id !== undefined && { policy_id }),
    };
    return [finding];
  });
}

function moneyFindings(plan: SpendingPlan, metrics: DeliveryMetrics, budget: number): GovernanceFinding[] {
  const spent = metrics.cumulative_spend ?? metrics.spend ?? 0;
  const { currency } = plan.budget;
  if (spent > budget) {
    return [
      {
        category_id: "budget_authority",
        severity: "critical",
        explanation: `${spent} ${currency} are spent where ${budget} ${currency} are authorized: delivery must pause.`,
        confidence: 1,
        details: { cumulative_spend: spent, authorized: budget },
      },
    ];
  }
  const { pacing = "on_track" } = metrics;
  if (pacing === "on_track") return [];
  return [
    {
      category_id: "delivery_pacing",
      severity: pacing === "ahead" ? "warning" : "info",
      explanation: `Delivery is ${pacing} of plan${pacing === "behind" ? "" : ` with ${budget - spent} ${currency} left`}.`,
      confidence: 1,
    },
  ];
}

function placeFindings(plan: SpendingPlan, metrics: DeliveryMetrics): GovernanceFinding[] {
  const abroad = Object.entries(metrics.geo_distribution ?? {}).filter(
    ([country, share]) => share > 0 && plan.countries !== undefined && !plan.countries.includes(country),
  );
  return abroad.map(([country, share]) => ({
    category_id: "geo_compliance",
    severity: "critical",
    explanation: `${share} % of delivery is in ${country}, which the plan does not allow.`,
    confidence: 1,
  }));
}

/** Judges a delivery report: beyond the budget or abroad it is denied, and delivery must pause; drift is to be put right. */
export function judgeDelivery(delivering: Delivering): Judgement {
  const { plan, metrics, budget } = delivering;
  const drift = driftFindings(delivering);
  const findings = [...moneyFindings(plan, metrics, budget), ...placeFindings(plan, metrics), ...drift];
  if (findings.some(({ severity }) => severity === "critical")) return { decision: "denied", findings, conditions: [] };
  const conditions: GovernanceCondition[] = drift.map(({ explanation }) => ({
    field: "packages",
    reason: `${explanation} Move the budget back towards the plan.`,
  }));
  return { decision: conditions.length > 0 ? "conditions" : "approved", findings, conditions };
}
