/**
 * Whose lease has run out, without comparing the clocks of two machines: a lease is over when it looks so and has not been
 * renewed while this instance's own clock went on for half of it; holders renew each third.
 */
/** Clocks are adjusted by as much all the time, in milliseconds. */
const SLACK_MS = 2_000;
/** No failure postpones an event for as long, in milliseconds. */
const LONGEST_DELAY_MS = 7_200_000;

/** What is due later than it should be. Times are unix milliseconds. */
export interface SetBack {
  /** Nobody holds it, and it is due after this. */
  readonly beyond: number;
  /** By how much it comes nearer, in milliseconds; to the present at most. */
  readonly by: number;
}

/** Notices a clock that was set back: what was to be done by the old one would wait until it is as late again. */
export class ClockWatch {
  #before: number | undefined;

  /** @returns what comes nearer; at the first look the clock may have been set back while nobody looked */
  look(now: number): SetBack | undefined {
    const before = this.#before;
    this.#before = now;
    if (before === undefined) return { beyond: now + LONGEST_DELAY_MS, by: Number.MAX_SAFE_INTEGER };
    return now < before - SLACK_MS ? { beyond: now, by: before - now } : undefined;
  }
}

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
