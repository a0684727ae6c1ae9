/** What a sweep of a store comes to. */

/** What a sweep removed, gave up, and whether there is more of it. */
export interface SweepResult {
  /** Rows removed, of all tables. */
  readonly removed: number;
  /** Parked events that were given up. */
  readonly deadLettered: number;
  /** More may be waiting: the bound was reached. */
  readonly more: boolean;
}
