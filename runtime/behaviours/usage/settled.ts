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

/** Whether a statement speaks of all that another does, of one creative in one media buy. */
const covers = (other: KeptUsage, one: KeptUsage): boolean =>
  (other.package_id === undefined || other.package_id === one.package_id) &&
  other.start <= one.start &&
  other.end >= one.end;

/** Of one creative in one media buy. */
function counting(all: readonly KeptUsage[]): readonly KeptUsage[] {
  // Of one instant, what was kept last is said last.
  const said = all.toSorted((a, b) => (a.reported_at < b.reported_at ? -1 : a.reported_at > b.reported_at ? 1 : 0));
  const replaced = (one: KeptUsage, at: number): boolean =>
    said.some((other, place) => {
      if (!covers(other, one)) return false;
      if (one.final === false && other.final === true) return true;
      return place > at && other.report !== one.report && (other.final === true || one.final === false);
    });
  return said.filter((one, at) => !replaced(one, at));
}

/**
 * Figures that are final take the place of all that were told of their time before, and of those that were not settled whenever
 * they are told; what is not settled gives way to whatever is told later.
 */
export function settledUsage(all: readonly KeptUsage[]): KeptUsage[] {
  const groups = Map.groupBy(all, ({ creative_id, media_buy_id }) => JSON.stringify([creative_id, media_buy_id]));
  const kept = new Set([...groups.values()].flatMap(counting));
  return all.filter((one) => kept.has(one));
}
