/** Where the people of an audience are known, beside being counted. */
import type { CallsUpstream } from "./upstream.js";

/** What a buyer has changed of one audience. */
export interface AudienceChange {
  /** The buyer's own name of it. */
  readonly audience_id: string;
  /** The seller's. */
  readonly seller_id: string;
  readonly name?: string;
  /** Identifiers as the buyer sent them: hashed. */
  readonly add: readonly object[];
  readonly remove: readonly object[];
  readonly deleted?: true;
}

/** What becomes of audiences that buyers send. Yours to answer. */
export interface AudiencesPort extends CallsUpstream {
  /**
   * Takes what a buyer has changed, before he is answered; whatever it throws fails the call, which he repeats.
   * @param of `idempotencyKey` is the same for every repetition of a change
   */
  change(
    audience: AudienceChange,
    of: { readonly principal: string; readonly accountId: string; readonly idempotencyKey: string },
  ): Promise<void>;
}

/** Audiences are kept as digests, and nobody else is told of them. */
export const countedAudiences: AudiencesPort = { change: async () => undefined };
