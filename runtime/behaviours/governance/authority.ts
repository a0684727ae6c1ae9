/** What an agent asks before it takes a buyer's money, where the brand's plan is kept here: does the plan allow it? */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { summed } from "../frame/currency.js";
import type { Account } from "../ports/accounts.js";
import { judgeAction, sameCurrency } from "./judge.js";
import { approvedCheck, type Entry, entriesOf } from "./ledger.js";
import { callersPlans, type KeptPlan, readPolicies } from "./plans.js";
import { portfoliosOver, type SharedCap, sharedCaps, withShared } from "./portfolio.js";
import { readProposal } from "./proposal.js";
import {
  boundOn,
  moneyBound,
  recordSpending,
  releaseSpending,
  type Spending,
  spendingUnder,
  usedByOthers,
} from "./spending.js";
import { APPROVAL_MS, planOfToken } from "./token.js";
import type { GovernanceFinding } from "./verdict.js";

export interface GovernedAction {
  readonly tool: string;
  /** What is paid for, by its id. */
  readonly what: string;
  /** The request, as received: it may carry the token of an approval. */
  readonly request: JsonObject;
  /** What it costs in all; undefined where nobody can tell beforehand. */
  readonly amount: number | undefined;
  /** ISO 4217; undefined where nothing is named that has a price. */
  readonly currency: string | undefined;
  /** Nothing goes ahead on an account under governance without a token, wherever its plan is kept. */
  readonly tokenRequired?: boolean;
  /** What was approved before is asked again: the plan, and what is bound under it, may be another by now. */
  readonly afresh?: boolean;
}

export interface Denial {
  readonly message: string;
  readonly details: JsonObject;
}

/** What is known under a plan when an action is judged. */
interface Standing {
  readonly kept: KeptPlan;
  readonly entries: readonly Entry[];
  readonly spending: readonly Spending[];
}

async function standingOf(call: BehaviourCall, kept: KeptPlan): Promise<Standing> {
  const entries = await entriesOf(call, kept);
  return { kept, entries, spending: await spendingUnder(call, kept, entries) };
}

/** Where an action stands with the plan that governs it. */
interface Governed extends Standing {
  /** What the same thing binds already, under whichever plan of the caller's. */
  readonly already: number;
  readonly portfolios: readonly KeptPlan[];
  /** What those have left. */
  readonly caps: readonly SharedCap[];
}

/** The plan registered last. */
const newest = (plans: readonly Standing[]): Standing | undefined =>
  plans.reduce<Standing | undefined>(
    (last, one) => (last === undefined || one.kept.syncedAt >= last.kept.syncedAt ? one : last),
    undefined,
  );

/** The plan that an action names: its token was issued under it, or it is named itself. */
async function namedPlan(call: BehaviourCall, action: GovernedAction): Promise<string | undefined> {
  const token = tokenOf(action);
  const issued = token === "" ? undefined : await planOfToken(call, token);
  if (issued?.owner === call.principal) return issued.plan_id;
  const { plan_id: named } = action.request;
  return typeof named === "string" ? named : undefined;
}

/**
 * The plan that is kept here and governs an action, if there is one: of several for one brand the one that it names, else that
 * under which the same thing was paid for before, else the newest.
 */
async function governing(call: BehaviourCall, account: Account, action: GovernedAction): Promise<Governed | undefined> {
  if ((account.governance_agents ?? []).length === 0) return undefined;
  const own = (await callersPlans(call)).filter(
    // Under a portfolio nothing is bought: it holds for the plans that are in it.
    ({ plan }) => plan.brand.domain === account.brand?.domain && plan.portfolio === undefined,
  );
  const plans = await Promise.all(own.map((kept) => standingOf(call, kept)));
  const bound = plans.map(({ spending, entries }) => boundOn(spending, entries, action.what));
  const named = await namedPlan(call, action);
  const found =
    plans.find(({ kept: { plan } }) => plan.plan_id === named) ??
    plans.find((_, index) => bound[index]! > 0) ??
    newest(plans);
  if (found === undefined) return undefined;
  const portfolios = await portfoliosOver(call, found.kept);
  return { ...found, already: summed(bound), portfolios, caps: await sharedCaps(call, portfolios) };
}

const tokenOf = ({ request: { governance_context: token } }: GovernedAction): string =>
  typeof token === "string" ? token : "";

/**
 * An approval that this agent has given itself stands for its judgement: of this plan, as long as it may be acted upon, and of as
 * much, once, while the plan has it. Denials have tokens too, and so have others' plans of the same name.
 */
function isApproved({ now }: BehaviourCall, standing: Governed, action: GovernedAction): boolean {
  const [token, { what, amount = 0, currency }] = [tokenOf(action), action];
  const { kept, entries, spending, already, caps } = standing;
  if (amount > 0 && !sameCurrency(kept.plan, currency)) return false;
  const given = token === "" ? undefined : approvedCheck(entries, token);
  if (given === undefined || Date.parse(given.timestamp) + APPROVAL_MS <= now.getTime()) return false;
  const bound = summed(Object.values(moneyBound(spending, entries)));
  if (summed([bound, amount, -already]) > kept.plan.budget.total) return false;
  const added = summed([amount, -already]);
  if (added > 0 && caps.some((cap) => cap.left < added || !sameCurrency(kept.plan, cap.currency))) return false;
  return summed([usedByOthers(spending, token, what), amount]) <= given.amount;
}

const unasked = ({ governance_agents: agents = [] }: Account): Denial => ({
  message: "The account's governance agent has not approved this: send the governance_context of its check.",
  details: { governance_agents: agents.map(({ url }) => url) },
});

/**
 * Why the account's plan forbids an action; undefined where it does not, where the account is under nobody's governance, and
 * where its plan is kept elsewhere: then the buyer's governance agent has the say.
 */
export async function denialOf(
  call: BehaviourCall,
  account: Account,
  action: GovernedAction,
): Promise<Denial | undefined> {
  if ((account.governance_agents ?? []).length === 0) return undefined;
  return denialUnder(call, account, { action, standing: await governing(call, account, action) });
}

async function denialUnder(
  call: BehaviourCall,
  account: Account,
  { action, standing }: { readonly action: GovernedAction; readonly standing: Governed | undefined },
): Promise<Denial | undefined> {
  const { tool, request, amount, currency, tokenRequired = false, afresh = false } = action;
  if (standing === undefined) return tokenRequired && tokenOf(action) === "" ? unasked(account) : undefined;
  if (!afresh && isApproved(call, standing, action)) return undefined;
  if (amount === undefined) return unasked(account);
  const { kept, entries, spending, already, portfolios, caps } = standing;
  const plan = withShared(kept.plan, portfolios);
  const { decision, findings } = judgeAction(
    plan,
    { ...readProposal({ tool, payload: request }), amount, currency },
    {
      phase: "purchase",
      caller: call.agentUrl,
      seller: call.agentUrl,
      execution: true,
      committed: moneyBound(spending, entries),
      before: already,
      caps,
      // Of what a person has approved once, no other is asked.
      approvedByHuman: approvedCheck(entries, tokenOf(action))?.human === true,
      now: call.now.getTime(),
      policies: await readPolicies(call, plan, request),
    },
  );
  if (decision !== "denied") return undefined;
  const reasons = findings.filter(({ severity }: GovernanceFinding) => severity === "critical");
  return {
    message: reasons.map(({ explanation }) => explanation).join(" "),
    details: { plan_id: plan.plan_id, findings: reasons },
  };
}

/** An action goes ahead: its money is bound under the plan that governs the account, where that is kept here. */
export const bindMoney = async (call: BehaviourCall, account: Account, action: GovernedAction): Promise<void> =>
  bindUnder(call, await governing(call, account, action), action);

/** Binds the money of an action where nothing forbids it, by one look at the plan. @returns why it is forbidden */
export async function bindUnlessDenied(
  call: BehaviourCall,
  account: Account,
  action: GovernedAction,
): Promise<Denial | undefined> {
  if ((account.governance_agents ?? []).length === 0) return undefined;
  const standing = await governing(call, account, action);
  const denial = await denialUnder(call, account, { action, standing });
  if (denial === undefined) bindUnder(call, standing, action);
  return denial;
}

function bindUnder(call: BehaviourCall, standing: Governed | undefined, action: GovernedAction): void {
  const { what, amount = 0, tool, request } = action;
  if (standing === undefined) return;
  const { kept, entries, already, portfolios } = standing;
  if (amount <= already) return;
  const added = {
    what,
    governance_context: tokenOf(action),
    purchase_type: readProposal({ tool, payload: request }).purchase,
    amount: summed([amount, -already]),
    order: entries.length,
  };
  recordSpending(call, kept, added, { already, portfolios });
}

/** An action is over before its time: what was bound for it without a token of the plan is given back, but for what it has cost. */
export async function giveBack(
  call: BehaviourCall,
  over: { readonly what: string; readonly cost: number },
): Promise<void> {
  for (const kept of await callersPlans(call)) await releaseSpending(call, kept, over);
}
