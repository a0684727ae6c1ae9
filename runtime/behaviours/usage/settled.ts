/** What is said of use again, and takes the place of what was said before. */

/** Use of a creative or of a media buy, as its buyer has reported it. */
export interface KeptUsage {
  readonly creative_id?: string;
  readonly media_buy_id?: string;
  readonly package_id?: string;
  readonly impressions: number;
  readonly spend: number;
  readonly currency: string;
  /** ISO 8601, in UTC. */
  readonly start: string;
  readonly end: string;
  readonly final?: boolean;
  readonly finalized_at?: string;
  readonly measurement_window?: string;
  /** The report that has said it last, and when: what one report says in several lines is of several things. */
  readonly report: string;
  readonly reported_at: string;
}

/** Whether a statement speaks of all that another does. */
const covers = (other: KeptUsage, one: KeptUsage): boolean =>
  other.creative_id === one.creative_id &&
  other.media_buy_id === one.media_buy_id &&
  (other.package_id === undefined || other.package_id === one.package_id) &&
  other.start <= one.start &&
  other.end >= one.end;

/**
 * Figures that are final take the place of all that were told of their time before, and of those that were not settled whenever
 * they are told; what is not settled gives way to whatever is told later.
 */
export function settledUsage(all: readonly KeptUsage[]): KeptUsage[] {
  // Of one instant, what was kept last is said last.
  const said = all.toSorted((a, b) => (a.reported_at < b.reported_at ? -1 : a.reported_at > b.reported_at ? 1 : 0));
  const counts = (one: KeptUsage, at: number): boolean =>
    !said.some((other, place) => {
      if (!covers(other, one)) return false;
      if (one.final === false && other.final === true) return true;
      return place > at && other.report !== one.report && (other.final === true || one.final === false);
    });
  const counting = new Set(said.filter(counts));
  return all.filter((one) => counting.has(one));
}
