/**
 * Whose lease has run out, without comparing the clocks of two machines: a lease is over when it looks so and has not been
 * renewed while this instance's own clock went on for half of it; holders renew each third.
 */
export interface LeasedRow {
  readonly id: number;
  readonly owner: string;
  /** Until when it is leased, by its holder's clock; renewed, it changes. */
  readonly due: number;
}

export class LeaseWatch {
  #seen = new Map<number, LeasedRow & { readonly since: number }>();

  /**
   * Of leases that look run out, those that are.
   * @param rows all that look so now
   * @param leaseMs how long a lease is
   */
  ended(rows: readonly LeasedRow[], now: number, leaseMs: number): LeasedRow[] {
    const before = this.#seen;
    this.#seen = new Map(
      rows.map((row) => {
        const known = before.get(row.id);
        const same = known?.owner === row.owner && known.due === row.due && known.since <= now;
        return [row.id, same ? known : { ...row, since: now }];
      }),
    );
    return [...this.#seen.values()].filter(({ since }) => now - since >= leaseMs / 2);
  }

  /** How many look run out and are watched. */
  get size(): number {
    return this.#seen.size;
  }
}
