/** What expires in a database. */

/** One kind of rows that expire. */
export interface Expiring {
  /** As it is told of: `expired nonces`. */
  readonly what: string;
  /** Nobody has handled what goes: it is worth a warning. */
  readonly lost?: true;
  /**
   * Removes the oldest of what has expired, in a transaction of its own.
   * @param now Unix milliseconds
   * @param limit most rows removed
   * @returns how many rows
   */
  remove(now: number, limit: number): Promise<number>;
}
