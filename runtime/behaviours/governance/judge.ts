/** Judges an action against its plan. Nothing is read or written here: the same question gets the same answer. */

import { summed } from "../frame/currency.js";
import type { SpendingRule, WrittenPolicy } from "../ports/policy.js";
import { undelegated } from "./delegated.js";
import { peopleFindings } from "./people.js";
import { needsHuman, partFor, type SpendingPlan } from "./plan.js";
import type { ProposedAction } from "./proposal.js";
import { judgeScope } from "./scope.js";
import { Findings, type GovernanceCondition, type Judgement } from "./verdict.js";
import { mentions } from "./vocabulary.js";

/** A policy, and what it comes to. */
export interface ReadPolicy {
  readonly policy: WrittenPolicy;
  readonly rule: SpendingRule;
  /** What whoever judges by words says, of a policy that no rule could be read from. */
  readonly said?: "met" | "unmet";
}

/** What the judge must know beside the action. */
export interface Circumstances {
  readonly phase: "purchase" | "modification";
  /** Who asks, as an agent URL. */
  readonly caller: string;
  /** The caller is the seller: it says what it will deliver. */
  readonly execution: boolean;
  /** Spent so far under the plan, by purchase type. */
  readonly committed: { readonly [purchase: string]: number };
  /** What portfolios that the plan is in have left. */
  readonly caps?: readonly { readonly plan_id: string; readonly currency: string; readonly left: number }[];
  /** What the same action has bound before. */
  readonly before: number;
  /** Who sells it, where that is known, and what other actions have bound there. */
  readonly seller?: string | undefined;
  readonly atSeller?: number;
  /** What other actions of the caller's have bound. */
  readonly byCaller?: number;
  /** The most that was approved of what is being carried out, where that binds. */
  readonly ceiling?: number;
  /** A human has approved it off the protocol. */
  readonly approvedByHuman: boolean;
  readonly now: number;
  readonly policies: readonly ReadPolicy[];
}

/** Rates are nobody's to guess: an amount in another currency is under no plan. */
export const sameCurrency = ({ budget }: SpendingPlan, currency: string | undefined): boolean =>
  currency === undefined || currency.toUpperCase() === budget.currency.toUpperCase();

function judgeBudget(verdict: Findings, plan: SpendingPlan, proposal: ProposedAction, at: Circumstances): void {
  const { total, currency } = plan.budget;
  if (proposal.unreadable !== undefined)
    verdict.deny("budget_authority", `What the action costs cannot be told: ${proposal.unreadable} is no amount.`);
  if (proposal.amount > 0 && !sameCurrency(plan, proposal.currency)) {
    verdict.deny(
      "budget_authority",
      `The action is paid in ${proposal.currency}, and the plan is in ${currency}: ask under a plan in ${proposal.currency}.`,
      { details: { requested: proposal.amount, requested_currency: proposal.currency, currency } },
    );
    return;
  }
  if (at.ceiling !== undefined && proposal.amount > at.ceiling) {
    verdict.deny(
      "budget_authority",
      `The action commits ${proposal.amount} ${currency} where its intent was approved for ${at.ceiling}.`,
      { details: { requested: proposal.amount, authorized: at.ceiling, currency } },
    );
  }
  const increase = proposal.incremental ? proposal.amount : summed([proposal.amount, -at.before]);
  const left = summed([total, -summed(Object.values(at.committed))]);
  if (increase > left) {
    verdict.deny(
      "budget_authority",
      `The action asks for ${proposal.amount} ${currency}; ${left} of the plan's ${total} ${currency} are left.`,
      { details: { requested: proposal.amount, remaining: left, authorized: total, currency } },
    );
  } else if (increase > left * 0.9) {
    verdict.note(
      "budget_authority",
      `The action uses up more than nine tenths of what the plan has left (${left} ${currency}).`,
    );
  }
  for (const { plan_id, currency: of, left: together } of at.caps ?? [])
    if (increase > 0 && (increase > together || !sameCurrency(plan, of))) {
      const explanation = `${together} ${of} are left for all plans of the portfolio ${plan_id} together, not ${increase} ${currency}.`;
      verdict.deny("budget_authority", explanation, { details: { requested: increase, remaining: together } });
    }
  const part = partFor(plan, proposal.purchase);
  const rest = part === undefined ? undefined : summed([part, -(at.committed[proposal.purchase] ?? 0)]);
  if (rest !== undefined && increase > rest) {
    verdict.deny("budget_authority", `${rest} ${currency} are left for ${proposal.purchase}, not ${proposal.amount}.`);
  }
  const { reallocation_threshold: threshold, reallocation_unlimited: unlimited } = plan.budget;
  const moves = at.phase === "modification" && unlimited !== true && threshold !== undefined;
  if (moves && Math.abs(increase) > threshold && !at.approvedByHuman) {
    verdict.demand(
      {
        field: "human_approval",
        reason: `Moving ${Math.abs(increase)} ${currency} is above the ${threshold} an agent may move by itself.`,
      },
      "budget_authority",
    );
  }
}

/** What the action comes to, with what it has bound before. */
const wholeOf = ({ amount, incremental }: ProposedAction, { before }: Circumstances): number =>
  incremental ? summed([before, amount]) : amount;

function judgeParties(verdict: Findings, plan: SpendingPlan, proposal: ProposedAction, at: Circumstances): void {
  const { seller } = at;
  if (seller !== undefined && plan.approved_sellers != null && !plan.approved_sellers.includes(seller)) {
    verdict.deny("strategic_alignment", `The plan approves other sellers than ${seller}.`);
  }
  if (at.execution) return;
  const amount = summed([at.byCaller ?? 0, wholeOf(proposal, at)]);
  const against = undelegated(plan, { ...at, proposal, amount });
  if (against !== undefined) verdict.deny("budget_authority", against);
}

function judgePeople(verdict: Findings, plan: SpendingPlan, { people }: ProposedAction): void {
  for (const { explanation, sure } of peopleFindings(plan, people)) {
    if (sure) verdict.demand({ field: "packages", reason: explanation }, "audience_constraints");
    else verdict.note("audience_constraints", explanation, { confidence: 0.2 });
  }
}

const applies = (rule: SpendingRule, { words, amount }: ProposedAction): boolean =>
  (rule.over === undefined || amount > rule.over) &&
  (rule.mentions.length === 0 || rule.mentions.some((term) => mentions(words, term)));

/** Reports that come often enough, as `reporting_webhook.reporting_frequency` knows them. */
const enough: Readonly<Record<"hourly" | "daily" | "weekly" | "monthly", readonly string[]>> = {
  hourly: ["hourly"],
  daily: ["daily", "hourly"],
  weekly: ["daily", "hourly"],
  monthly: ["monthly", "daily", "hourly"],
};

/** What the action would have to have; undefined where it meets the rule. */
function unmet(
  { rule, policy, said }: ReadPolicy,
  plan: SpendingPlan,
  { proposal, human, share }: { readonly proposal: ProposedAction; readonly human: boolean; readonly share: number },
): GovernanceCondition | undefined {
  switch (rule.kind) {
    case "reporting": {
      const { reportingFrequency: own, acknowledged } = proposal;
      if (acknowledged.includes(policy.policy_id)) return undefined;
      if (own !== undefined && enough[rule.every].includes(own)) return undefined;
      if (proposal.incremental)
        return {
          field: "payload.ext.governance_policy_acknowledgements",
          reason: `Reports are due ${rule.every}.`,
          required_value: [policy.policy_id],
        };
      return {
        field: "reporting_webhook.reporting_frequency",
        reason: `Reports are due ${rule.every}.`,
        required_value: enough[rule.every][0],
      };
    }
    case "seller_share": {
      const most = (plan.budget.total * rule.percent) / 100;
      if (share <= most) return undefined;
      const reason = `One seller would get more than ${rule.percent} % of the plan's budget.`;
      return { field: "total_budget", reason, required_value: most };
    }
    case "review":
      return human ? undefined : { field: "human_approval", reason: `A ${rule.of} comes first.` };
    case "unread":
      if (human || said === "met") return undefined;
      return {
        field: "human_approval",
        reason: said === "unmet" ? "The action does not meet it." : "The policy takes a person's judgement.",
      };
    case "drift": // looked at while it delivers
      return undefined;
  }
}

function judgePolicies(verdict: Findings, plan: SpendingPlan, proposal: ProposedAction, at: Circumstances): void {
  const share = summed([at.atSeller ?? 0, wholeOf(proposal, at)]);
  for (const one of at.policies) {
    const { policy, rule } = one;
    if (!applies(rule, proposal)) continue;
    const condition = unmet(one, plan, { proposal, human: at.approvedByHuman, share });
    if (condition === undefined) continue;
    const { policy_id } = policy;
    // What nobody could read, and nobody has judged, is no more than suspected.
    const more = { policy_id, ...(rule.kind === "unread" && one.said === undefined && { confidence: 0.2 }) };
    const reason = `${policy.policy} ${condition.reason}`;
    if (policy.enforcement === "must") verdict.demand({ ...condition, reason }, "custom_policy", more);
    else verdict.note("custom_policy", reason, more);
  }
  const cap = plan.budget.per_seller_max_pct;
  if (cap !== undefined && share > (plan.budget.total * cap) / 100) {
    verdict.demand(
      {
        field: "total_budget",
        reason: `One seller may get ${cap} % of the plan's budget.`,
        required_value: (plan.budget.total * cap) / 100,
      },
      "budget_authority",
    );
  }
}

/** Judges a purchase, or a change of one, before it happens. */
export function judgeAction(plan: SpendingPlan, proposal: ProposedAction, at: Circumstances): Judgement {
  const verdict = new Findings();
  judgeBudget(verdict, plan, proposal, at);
  judgeParties(verdict, plan, proposal, at);
  judgeScope(verdict, plan, proposal, at.execution);
  judgePeople(verdict, plan, proposal);
  judgePolicies(verdict, plan, proposal, at);
  const demanding = at.policies.some(({ policy }) => policy.requires_human_review === true);
  if ((needsHuman(plan) || demanding) && !at.approvedByHuman) {
    verdict.demand(
      { field: "human_approval", reason: "The plan has every action reviewed by a person." },
      "regulatory_compliance",
    );
  }
  return verdict.done();
}
