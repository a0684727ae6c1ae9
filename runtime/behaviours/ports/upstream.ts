/** What a port may say of itself. */
export interface CallsUpstream {
  /**
   * It tells somebody over HTTP. In development what it sends is recorded, and tests may ask for it: an answer that nothing
   * was sent for is then seen to be one.
   */
  readonly upstream?: true;
}
