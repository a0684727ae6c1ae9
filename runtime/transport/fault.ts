/** What can go wrong on the wire, under the protocol's own errors. */

export interface WireFaultFacts {
  /** Present when an HTTP answer came. */
  readonly status?: number;
  /** Whether trying again may help. */
  readonly retryable?: boolean;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
  /** The answer's body, for errors that stand in it. */
  readonly body?: string;
  /** `WWW-Authenticate`, as it came. */
  readonly challenge?: string | undefined;
  /** An answer came, and was not read: it is larger than the caller wants. */
  readonly unread?: boolean;
  /** The request never left: what it needed could not be had. */
  readonly unsent?: boolean;
}

/** A request that got no answer of the protocol. */
export class WireFault extends Error {
  override readonly name = "WireFault";
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly body: string;
  readonly challenge: string | undefined;
  readonly unread: boolean;
  readonly unsent: boolean;

  constructor(message: string, facts: WireFaultFacts) {
    const { status, retryable = false, retryAfter, body = "", challenge, unread = false, unsent = false } = facts;
    super(message);
    this.status = status;
    this.retryable = retryable;
    this.retryAfter = retryAfter;
    this.body = body;
    this.challenge = challenge;
    this.unread = unread;
    this.unsent = unsent;
  }
}

/** Our own fault under whatever an SDK has put around it. */
export function wireFaultIn(error: unknown): WireFault | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (at instanceof WireFault) return at;
  return undefined;
}

/** A JSON-RPC error, whichever SDK it was read by. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
    /** By its transport's own codes nothing was done. */
    readonly refused = false,
  ) {
    super(message);
  }
}

/** Shown to people; an agent's text may be anything. */
export const shortText = (text: string): string => (text.length > 500 ? `${text.slice(0, 500)}...` : text);
