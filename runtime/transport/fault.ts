/** What can go wrong on the wire, under the protocol's own errors. */

/** A request that got no answer of the protocol. */
export class WireFault extends Error {
  override readonly name = "WireFault";
  constructor(
    message: string,
    /** Present when an HTTP answer came. */
    readonly status: number | undefined,
    readonly retryable: boolean,
    /** Seconds. */
    readonly retryAfter: number | undefined,
    /** The answer's body, cut; for errors that stand in it. */
    readonly body = "",
    /** Why a signature was refused, where the answer's challenge says it. */
    readonly challenge: string | undefined = undefined,
  ) {
    super(message);
  }
}

/** A JSON-RPC error, whichever SDK it was read by. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message);
  }
}

/** Shown to people; an agent's text may be anything. */
export const shortText = (text: string): string => (text.length > 500 ? `${text.slice(0, 500)}...` : text);
