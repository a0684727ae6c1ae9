/**
 * What was ordered here under a plan that is kept here: its money is bound before anybody has told what came of it, so that
 * one approval, or what a plan has left, is not spent twice.
 */
import type { DocumentPlace } from "../../store/documents.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { summed } from "../frame/currency.js";
import {
  type CheckEntry,
  committed,
  committedBy,
  type Entry,
  entriesOf,
  isCheck,
  type OutcomeEntry,
  planPart,
  settlingOf,
} from "./ledger.js";
import type { KeptPlan } from "./plans.js";

/** One thing that is paid for; an order that grows is spent on again, by what it grew. */
export interface Spending {
  /** Its own id. */
  readonly id: string;
  /** What is paid for, by its id: the same again costs what is added to it. */
  readonly what: string;
  /** The token it was ordered by; empty where there was none. */
  readonly governance_context: string;
  readonly purchase_type: string;
  readonly amount: number;
  /** How long the trail of the plan was. */
  readonly order: number;
}

const SPENDING = "governance_spending";
const kept = collection<Spending>(SPENDING);
/** Written with each: of two orders at one time, the later one is judged again on what the other has left. */
const TURNS = "governance_spending_turn";
const turns = collection<{ readonly last: string }>(TURNS);
const TURN = "turn";

/** Is it one that is kept of a spending? Taken back, it binds nothing any more. */
export const isSpending = ({ collection: name }: DocumentPlace): boolean => name.startsWith(`${SPENDING}/`);

/** Is it whose turn it is under a plan? */
export const isSpendingTurn = ({ collection: name }: DocumentPlace): boolean => name.startsWith(`${TURNS}/`);

/** Entries that say what came of it. */
const tellingOf = (entries: readonly Entry[], { governance_context: token, order }: Spending): OutcomeEntry[] =>
  settlingOf(entries, token).filter((entry) => entry.order >= order);

/** What was spent under a plan, but for what has failed since: that was given back. @param entries of the plan */
export async function spendingUnder(
  call: BehaviourCall,
  plan: KeptPlan,
  entries: readonly Entry[],
): Promise<Spending[]> {
  await turns.get(call, planPart(plan), TURN);
  const all = await kept.list(call, planPart(plan));
  return all.filter((one) => !tellingOf(entries, one).some(({ outcome }) => outcome === "failed"));
}

/**
 * @param already what the same thing has bound before
 * @param portfolios that the plan is in: what is spent under another plan of theirs at the same time waits for this
 */
export function recordSpending(
  call: BehaviourCall,
  plan: KeptPlan,
  spending: Omit<Spending, "id">,
  { already, portfolios }: { readonly already: number; readonly portfolios: readonly KeptPlan[] },
): void {
  const { what, amount, order } = spending;
  // What it was before an outcome was told, and what it is after that, are two.
  const id = JSON.stringify([what, already + amount, order]);
  kept.put(call, planPart(plan), id, { ...spending, id });
  for (const one of [plan, ...portfolios]) turns.put(call, planPart(one), TURN, { last: id });
}

/**
 * Of what was ordered without a token, or with one that was not given under the plan, nobody tells what came of it: when it is
 * over before its time, no more than it has cost stays bound.
 * @param what what is not paid for any more, by its id
 * @param cost what it has cost, in its currency
 */
export async function releaseSpending(
  call: BehaviourCall,
  plan: KeptPlan,
  { what, cost }: { readonly what: string; readonly cost: number },
): Promise<void> {
  const all = await kept.list(call, planPart(plan));
  const given = new Set((await entriesOf(call, plan)).map(({ governance_context: token }) => token));
  let left = cost;
  for (const one of all.filter((each) => each.what === what && !given.has(each.governance_context))) {
    const amount = Math.min(one.amount, left);
    left = summed([left, -amount]);
    if (amount === one.amount) continue;
    kept.put(call, planPart(plan), one.id, { ...one, amount });
    turns.put(call, planPart(plan), TURN, { last: one.id });
  }
}

/**
 * Writes what the call binds at once, before somebody outside is paid: of two calls at one time the second finds it.
 * @returns takes it back, where nothing came of the call
 * @throws StaleDocument where another has bound money meanwhile: the call is then done again
 */
export async function bindAtOnce(call: BehaviourCall): Promise<() => Promise<void>> {
  const writes = call.documents.changes().filter((one) => isSpending(one) || isSpendingTurn(one));
  if (writes.length === 0) return async () => undefined;
  await call.store.commit(writes);
  for (const { collection: name, owner, id } of writes) call.documents.forget(name, owner, id);
  const gone = writes.filter(isSpending).map((one) => ({ ...one, version: undefined, body: undefined }));
  return () => call.store.commit(gone);
}

const amountOf = (some: readonly Spending[]): number => summed(some.map(({ amount }) => amount));

/** What nobody has told the outcome of: then what it says is bound. */
const untold = (all: readonly Spending[], entries: readonly Entry[]): Spending[] =>
  all.filter((one) => tellingOf(entries, one).length === 0);

/** What one thing binds: as much as it has cost, or as little as is left of that by what was told since. */
export function boundOn(all: readonly Spending[], entries: readonly Entry[], what: string): number {
  const own = all.filter((one) => one.what === what);
  const open = untold(own, entries);
  const told = own.filter((one) => !open.includes(one));
  const left = [...new Set(told.map(({ governance_context: token }) => token))].map((token) => {
    const under = all.filter((one) => one.governance_context === token);
    const others = amountOf(under.filter((one) => one.what !== what && !untold([one], entries).includes(one)));
    const most = amountOf(told.filter((one) => one.governance_context === token));
    return Math.max(0, Math.min(most, summed([committedBy(entries, token), -others])));
  });
  return summed([amountOf(open), ...left]);
}

/** What a token has ordered, as far as nobody has told the outcome. */
export const untoldOf = (all: readonly Spending[], entries: readonly Entry[], token: string): number =>
  amountOf(
    untold(
      all.filter((one) => one.governance_context === token),
      entries,
    ),
  );

/** Money bound under a plan, by purchase type: what outcomes say, and what was ordered since. */
export function moneyBound(all: readonly Spending[], entries: readonly Entry[]): { [purchase: string]: number } {
  const totals = committed(entries);
  for (const { purchase_type: purchase, amount } of untold(all, entries))
    totals[purchase] = summed([totals[purchase] ?? 0, amount]);
  return totals;
}

/**
 * What actions have bound of which a check that let them go ahead says something; of one that goes on, what was ordered is
 * bound till its outcome is told.
 * @param own the token of the action that asks: it is not counted
 */
export function boundWhere(
  all: readonly Spending[],
  entries: readonly Entry[],
  { says, own }: { readonly says: (check: CheckEntry) => boolean; readonly own?: string | undefined },
): number {
  const checks = entries.filter(isCheck).filter((check) => check.decision !== "denied" && says(check));
  const tokens = new Set(checks.map(({ governance_context }) => governance_context));
  if (own !== undefined) tokens.delete(own);
  const open = untold(
    all.filter((one) => tokens.has(one.governance_context)),
    entries,
  );
  return summed([...[...tokens].map((token) => committedBy(entries, token)), amountOf(open)]);
}

/** How much of an approval other things have used up. */
export const usedByOthers = (all: readonly Spending[], token: string, what: string): number =>
  amountOf(all.filter((one) => one.governance_context === token && one.what !== what));
