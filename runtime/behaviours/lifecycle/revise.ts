/** Terms as a refinement wants them: other sums, dates, products, and ways to divide the money. Nothing here is kept. */
import type { BehaviourToolCall } from "../frame/call.js";
import type { Product } from "../ports/catalogue.js";
import { statedBudget, statedExtension } from "../products/brief.js";
import { findConfigured, keepConfigured } from "../products/configured.js";
import { divided } from "../products/draft.js";
import { onOffer, productsBought } from "../products/products.js";
import { sharesCap } from "../products/shared-caps.js";
import { targeted } from "../products/targeted.js";
import { type CommercialTerms, type Money, type Purchase, termsDigest } from "../products/terms.js";
import { unsatisfied } from "./constraints.js";
import type { ProposalRefinement } from "./dimensions.js";
import { offered } from "./list-products.js";

/** The sum that a revision asks for: as a limit, or in words. */
function wantedTotal(
  { total_budget: now }: CommercialTerms,
  { constraints, ask }: ProposalRefinement,
): Money | undefined {
  const { max, min, currency } = constraints?.total_budget ?? {};
  if (now === undefined || (currency !== undefined && currency !== now.currency)) return undefined;
  if (max !== undefined && max < now.amount) return { amount: max, currency: now.currency };
  if (min !== undefined && min > now.amount) return { amount: min, currency: now.currency };
  const stated = ask === undefined ? undefined : statedBudget(ask);
  return stated?.currency === now.currency ? stated : undefined;
}

/** The flight that a revision asks for; nothing where it is to stay. */
function wantedFlight(terms: CommercialTerms, { constraints, ask = "" }: ProposalRefinement): Partial<CommercialTerms> {
  const { start_no_later_than: start, end_no_earlier_than: end } = constraints?.flight ?? {};
  const longer = statedExtension(ask);
  const until = longer === undefined ? terms.end_time : new Date(Date.parse(terms.end_time) + longer).toISOString();
  const last = end !== undefined && Date.parse(end) > Date.parse(until) ? end : until;
  return {
    ...(start !== undefined && Date.parse(start) < Date.parse(terms.start_time) && { start_time: start }),
    ...(last !== terms.end_time && { end_time: last }),
  };
}

const sharesOf = (purchases: readonly Purchase[]): number[] => purchases.map(({ budget }) => budget ?? 0);

/** The same money, or another sum, over these purchases. */
function over(terms: CommercialTerms, purchases: readonly Purchase[], shares = sharesOf(purchases)): CommercialTerms {
  const { total_budget: total } = terms;
  if (total === undefined || shares.every((one) => one === 0)) return { ...terms, purchases };
  const budgets = divided(total, shares);
  return { ...terms, purchases: purchases.map((one, index) => ({ ...one, budget: budgets[index]! })) };
}

/** A line of the plan for one more product, with as much as another has on average; undefined where it has no price in its currency. */
function lineOf(terms: CommercialTerms, { product_id, pricing_options }: Product): Purchase | undefined {
  const currency = terms.total_budget?.currency ?? terms.purchases[0]?.pricing?.currency;
  const pricing = pricing_options.find((one) => one.currency === currency);
  if (pricing === undefined) return undefined;
  const shares = sharesOf(terms.purchases);
  const budget = shares.length === 0 ? 1 : shares.reduce((sum, one) => sum + one, 0) / shares.length;
  const { pricing_option_id } = pricing;
  const { start_time, end_time } = terms;
  return { product_id, pricing_option_id, pricing, budget, start_time, end_time };
}

interface Changed {
  readonly terms: CommercialTerms;
  /** Changes of products that could not be made. */
  readonly unmet: Readonly<Record<string, "include" | "omit">>;
}

function withProducts(
  terms: CommercialTerms,
  changes: NonNullable<ProposalRefinement["product_changes"]>,
  known: readonly Product[],
): Changed {
  const left = terms.purchases.filter(({ product_id }) => changes[product_id] !== "omit");
  const named = Object.keys(changes).filter((id) => changes[id] === "include");
  const missing = named.filter((id) => left.every(({ product_id }) => product_id !== id));
  const added = missing.flatMap((id) => {
    const product = known.find(({ product_id }) => product_id === id);
    return (product && lineOf(terms, product)) ?? [];
  });
  const purchases = [...left, ...added];
  const unmet = missing.filter((id) => added.every(({ product_id }) => product_id !== id));
  // A plan of nothing is none: what was to go stays then.
  const kept = purchases.length === 0 ? terms.purchases : purchases;
  const stays = purchases.length === 0 ? terms.purchases.map(({ product_id }) => product_id) : [];
  const all = [...unmet, ...stays].filter((id) => changes[id] !== undefined);
  return { terms: over(terms, kept), unmet: Object.fromEntries(all.map((id) => [id, changes[id]!])) };
}

/** The products of the catalogue that lines are of. */
const basesOf = (call: BehaviourToolCall, lines: readonly Purchase[]): Promise<string[]> =>
  Promise.all(lines.map(async ({ product_id: id }) => (await findConfigured(call, id))?.base ?? id));

/** What still meets the criteria; where products are named, those. Undefined where nothing is left. */
async function withCriteria(
  call: BehaviourToolCall,
  terms: CommercialTerms,
  criteria: NonNullable<ProposalRefinement["criteria"]>,
): Promise<CommercialTerms | undefined> {
  const { products, configured } = targeted(call, await offered(call, criteria), criteria);
  const lines: Purchase[] = [];
  const bases = await basesOf(call, terms.purchases);
  for (const product of products) {
    // What was configured for another wish is the same product still, and so is its line.
    const own = configured.get(product.product_id);
    const known = terms.purchases[bases.indexOf(own?.base ?? product.product_id)];
    const line = known ?? (criteria.product_ids === undefined ? undefined : lineOf(terms, product));
    const overlay = own?.overlay ?? criteria.targeting_overlay;
    if (line !== undefined) lines.push(overlay === undefined ? line : { ...line, targeting_overlay: { ...overlay } });
  }
  keepConfigured(
    call,
    configured,
    lines.map(({ product_id }) => product_id),
  );
  return lines.length === 0 ? undefined : over(terms, lines);
}

/** The plan divided in other ways, and with other products beside: each once. */
async function variants(call: BehaviourToolCall, terms: CommercialTerms, count: number): Promise<CommercialTerms[]> {
  const found = new Map([[termsDigest(terms), terms]]);
  const offer = (one: CommercialTerms): void => void found.set(termsDigest(one), one);
  const shares = sharesOf(terms.purchases);
  if (shares.length > 1)
    for (const at of shares.keys())
      offer(
        over(
          terms,
          terms.purchases,
          shares.map((share, index) => (index === at ? share * 1.5 : share)),
        ),
      );
  const inPlan = new Set(terms.purchases.map(({ product_id }) => product_id));
  for (const product of await onOffer(call)) {
    if (found.size >= count) break;
    const line = inPlan.has(product.product_id) ? undefined : lineOf(terms, product);
    if (line !== undefined) offer(over(terms, [...terms.purchases, line]));
  }
  return [...found.values()];
}

/** The cap over all of it: another one, none any more, or as it was. */
function capped(terms: CommercialTerms, { criteria, remove_media_buy_frequency_cap: removes }: ProposalRefinement) {
  const { frequency_cap: inherited, ...rest } = terms;
  const cap = criteria?.media_buy_frequency_cap ?? (removes === true ? undefined : inherited);
  return { ...rest, ...(cap !== undefined && { frequency_cap: cap }) } as CommercialTerms;
}

const keepsCap = async (
  call: BehaviourToolCall,
  { frequency_cap: cap, purchases }: CommercialTerms,
): Promise<boolean> => cap === undefined || sharesCap(call, await productsBought(call, purchases), cap);

export interface Revision {
  /** At least one; as many as are asked for, where there are so many. */
  readonly drafts: readonly CommercialTerms[];
  readonly unsatisfied: readonly string[];
  readonly unmet: Changed["unmet"];
  /** Something of what was asked for was understood. */
  readonly understood: boolean;
}

export async function revise(
  call: BehaviourToolCall,
  from: CommercialTerms,
  wanted: ProposalRefinement,
): Promise<Revision> {
  const { constraints = {}, product_changes: changes, criteria, alternatives } = wanted;
  const { media_buy_frequency_cap: _, ...narrowing } = criteria ?? {};
  const flight = wantedFlight(from, wanted);
  const total = wantedTotal(from, wanted);
  const moved: CommercialTerms = {
    ...from,
    ...flight,
    ...(total !== undefined && { total_budget: total }),
    purchases: from.purchases.map((one) => ({ ...one, ...flight })) as readonly Purchase[],
  };
  const summed = total === undefined ? moved : over(moved, moved.purchases);
  const met = Object.keys(narrowing).length === 0 ? summed : await withCriteria(call, summed, narrowing);
  const { terms: uncapped, unmet } =
    changes === undefined
      ? { terms: met ?? summed, unmet: {} }
      : withProducts(met ?? summed, changes, await onOffer(call));
  const terms = capped(uncapped, wanted);
  const broken = [
    ...unsatisfied(terms, constraints),
    ...(met === undefined ? ["criteria"] : []),
    ...((await keepsCap(call, terms)) ? [] : ["media_buy_frequency_cap"]),
  ];
  const count = alternatives?.count ?? 1;
  const all = count === 1 ? [terms] : await variants(call, terms, count);
  const kept = await Promise.all(all.map((one) => keepsCap(call, one)));
  const drafts = all.filter((one, at) => kept[at] && unsatisfied(one, constraints).length === 0).slice(0, count);
  const uncaps = wanted.remove_media_buy_frequency_cap;
  const typed = [wanted.constraints, changes, criteria, alternatives, uncaps].some((one) => one !== undefined);
  return { drafts, unsatisfied: broken, unmet, understood: typed || termsDigest(terms) !== termsDigest(from) };
}
