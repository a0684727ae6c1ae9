/** What a port may say of itself. */
export interface CallsUpstream {
  /**
   * It tells somebody over HTTP. In development what it sends is recorded, and tests may ask for it: an answer that nothing
   * was sent for is then seen to be one.
   */
  readonly upstream?: true;
  /**
   * How long one of its calls is waited for, in milliseconds; 30,000 by default, at most 24 days. What it answers later is let go
   * of: the caller is told that the seller cannot answer now, and repeats the call.
   */
  readonly patienceMs?: number;
}
