/** Typed constraints of a revision, and which of them commercial terms do not meet (`proposal-refinement`, `constraints`). */
import type { CommercialTerms } from "../products/terms.js";

export interface Constraints {
  readonly total_budget?: { readonly max?: number; readonly min?: number; readonly currency: string };
  readonly cpm?: { readonly max: number; readonly currency: string };
  readonly impressions?: { readonly min: number };
  readonly flight?: { readonly start_no_later_than?: string; readonly end_no_earlier_than?: string };
}

type Judges = {
  readonly [K in keyof Constraints]-?: (terms: CommercialTerms, wanted: NonNullable<Constraints[K]>) => boolean;
};

const perThousand: readonly string[] = ["cpm", "vcpm"];

const judges: Judges = {
  total_budget: ({ total_budget: total, purchases }, { max = Number.MAX_VALUE, min = 0, currency }) =>
    total?.currency === currency &&
    total.amount >= min &&
    total.amount <= max &&
    // What is too little for one of its products nobody can sell.
    purchases.every(({ budget, pricing }) => (budget ?? 0) >= (pricing?.min_spend_per_package ?? 0)),
  cpm: ({ purchases }, { max, currency }) =>
    purchases.every(
      ({ pricing }) =>
        perThousand.includes(pricing?.pricing_model ?? "") &&
        pricing?.currency === currency &&
        (pricing.fixed_price ?? Number.POSITIVE_INFINITY) <= max,
    ),
  // What is contracted, not what a budget may come to.
  impressions: ({ purchases }, { min }) => {
    const each = purchases.map(({ impressions }) => impressions);
    return each.every((one) => typeof one === "number") && each.reduce((sum, one) => sum + one, 0) >= min;
  },
  flight: ({ start_time: start, end_time: end }, { start_no_later_than: latest, end_no_earlier_than: earliest }) =>
    (latest === undefined || Date.parse(start) <= Date.parse(latest)) &&
    (earliest === undefined || Date.parse(end) >= Date.parse(earliest)),
};

/** @returns keys of the constraints that the terms do not meet */
export const unsatisfied = (terms: CommercialTerms, wanted: Constraints): string[] =>
  (Object.keys(judges) as (keyof Constraints)[]).filter((key) => {
    const judge = judges[key] as (terms: CommercialTerms, wanted: unknown) => boolean;
    return wanted[key] !== undefined && !judge(terms, wanted[key]);
  });
