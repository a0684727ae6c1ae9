/** Who must sign before an order is booked. */
import type { Order } from "./ad-server.js";
import type { CallsUpstream } from "./upstream.js";

/** What is to be approved: an order, its total, and how the buyer was told it would be. */
export interface ApprovalQuery {
  readonly order: Order;
  readonly total: number;
  /** Impressions are promised, and no proposal was committed to before. */
  readonly guaranteed: boolean;
  readonly mode: "development" | "production";
}

/** `wait`: until somebody decides, see `decide` of the seller. */
export interface Approval {
  readonly decision: "go" | "wait";
  /** Told to the buyer. */
  readonly message?: string;
}

/** Whether an order needs a person, and what the person says. Yours to answer. */
export interface Approvals extends CallsUpstream {
  ask(query: ApprovalQuery): Promise<Approval>;
  /** In development nobody is there to sign: orders that wait are signed after so many milliseconds. */
  readonly signAfterMs?: number;
}

/** Guaranteed orders from this much on wait for a human's signature, in the currency of the order. */
const SIGNED_FROM = 50_000;
const STEP_MS = 400;

/** Large guaranteed orders are signed by a person. */
export const signedApprovals = (signedFrom: number = SIGNED_FROM): Approvals => ({
  ask: async ({ total, guaranteed }) =>
    guaranteed && total >= signedFrom
      ? { decision: "wait", message: "The insertion order waits for a signature; that takes two to four hours." }
      : { decision: "go" },
  signAfterMs: STEP_MS,
});
