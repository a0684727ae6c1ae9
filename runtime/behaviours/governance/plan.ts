/** A campaign plan: what a brand lets its agents spend, on what, when and where. Field names are those of the wire. */
import type { WrittenPolicy } from "../ports/policy.js";

export interface SpendingPlan {
  readonly plan_id: string;
  readonly brand: { readonly domain: string };
  readonly objectives: string;
  readonly budget: {
    readonly total: number;
    readonly currency: string;
    readonly reallocation_threshold?: number;
    readonly reallocation_unlimited?: boolean;
    readonly per_seller_max_pct?: number;
    /** What verified adjustments give back: by default only what was never going to be owed. */
    readonly accounting_mode?: "gross_commitment" | "verified_net_cost";
    readonly allocations?: { readonly [purchase: string]: { readonly amount?: number; readonly max_pct?: number } };
  };
  readonly flight: { readonly start: string; readonly end: string };
  readonly channels?: {
    /** Part of the mix, among those that are allowed. */
    readonly required?: readonly string[];
    readonly allowed?: readonly string[];
    readonly mix_targets?: { readonly [channel: string]: { readonly min_pct?: number; readonly max_pct?: number } };
  };
  readonly countries?: readonly string[];
  readonly regions?: readonly string[];
  readonly policy_ids?: readonly string[];
  readonly policy_categories?: readonly string[];
  readonly custom_policies?: readonly WrittenPolicy[];
  readonly approved_sellers?: readonly string[] | null;
  readonly delegations?: readonly {
    readonly agent_url: string;
    readonly authority: string;
    readonly budget_limit?: { readonly amount: number; readonly currency: string };
    /** Countries, or parts of them; all of the plan's by default. */
    readonly markets?: readonly string[];
    readonly expires_at?: string;
  }[];
  readonly audience?: object;
  readonly restricted_attributes?: readonly string[];
  readonly restricted_attributes_custom?: readonly string[];
  readonly min_audience_size?: number;
  readonly human_review_required?: boolean;
  /** What holds for other plans of the same owner's together. */
  readonly portfolio?: {
    readonly member_plan_ids: readonly string[];
    readonly total_budget_cap?: { readonly amount: number; readonly currency: string };
    readonly shared_policy_ids?: readonly string[];
    readonly shared_exclusions?: readonly WrittenPolicy[];
  };
}

/** Regimes under which nobody is decided about by a machine alone. */
const humanReviewCategories = ["fair_housing", "fair_lending", "fair_employment", "pharmaceutical_advertising"];

export const needsHuman = (plan: SpendingPlan): boolean =>
  plan.human_review_required === true ||
  (plan.policy_categories ?? []).some((category) => humanReviewCategories.includes(category));

/** What a plan has for a purchase of one type; nothing where it does not part its money. */
export function partFor({ budget: { total, allocations = {} } }: SpendingPlan, purchase: string): number | undefined {
  const { amount, max_pct: percent } = allocations[purchase] ?? {};
  const limits = [amount, percent === undefined ? undefined : (total * percent) / 100];
  const own = limits.filter((limit) => limit !== undefined);
  return own.length === 0 ? undefined : Math.min(...own);
}

/** Channels that no mix of media could have as the plan wants it. */
function channelFault({ channels = {} }: SpendingPlan): PlanFault | undefined {
  const { required = [], allowed, mix_targets: targets = {} } = channels;
  const barred = required.find((one) => allowed !== undefined && !allowed.includes(one));
  if (barred !== undefined) return { field: "channels.required", message: `${barred} is required, and not allowed` };
  for (const [channel, { min_pct: least = 0, max_pct: most = 100 }] of Object.entries(targets))
    if (least < 0 || most > 100 || least > most)
      return { field: `channels.mix_targets.${channel}`, message: `${least} to ${most} percent is no share` };
  const sum = Object.values(targets).reduce((all, { min_pct: least = 0 }) => all + least, 0);
  return sum > 100
    ? { field: "channels.mix_targets", message: `the least of all channels is ${sum} percent together` }
    : undefined;
}

interface PlanFault {
  readonly field: string;
  readonly message: string;
}

/** What is wrong with a plan that its schema cannot say; nothing where it may be registered. */
export function planFault(plan: SpendingPlan): PlanFault | undefined {
  if (Date.parse(plan.flight.end) <= Date.parse(plan.flight.start)) {
    return { field: "flight.end", message: "flight.end must be after flight.start" };
  }
  const { reallocation_threshold, reallocation_unlimited } = plan.budget;
  if (reallocation_unlimited === true && reallocation_threshold !== undefined) {
    return { field: "budget", message: "reallocation_unlimited and reallocation_threshold exclude each other" };
  }
  const parts = Object.values(plan.budget.allocations ?? {}).reduce((sum, { amount = 0 }) => sum + amount, 0);
  return parts > plan.budget.total
    ? {
        field: "budget.allocations",
        message: `allocations add up to ${parts}, more than the total of ${plan.budget.total}`,
      }
    : channelFault(plan);
}
