/** What can go wrong between a request and its answer, in the terms of the protocol's own errors. */
import { isJsonObject, type JsonObject, type Recovery, type Release } from "../contract/index.js";
import { extractTransportError, type TransportError } from "../extract/index.js";
import { signingRecovery } from "../facts/index.js";
import { shortText, type WireFault } from "../transport/fault.js";
import type { LocalError } from "./types.js";

/** HTTP status -> the protocol's code and what to do. Anything else above 499 is `SERVICE_UNAVAILABLE`. */
const byStatus: Readonly<Record<number, readonly [code: string, recovery: Recovery]>> = {
  401: ["AUTH_REQUIRED", "correctable"],
  403: ["AUTH_REQUIRED", "correctable"],
  408: ["SERVICE_UNAVAILABLE", "transient"],
  429: ["RATE_LIMITED", "transient"],
};

/** Somebody on the way did not wait: for the request, or, as gateways say it too, for an answer to one that had gone on. */
const gaveUp: ReadonlySet<number> = new Set([408, 499]);

/** JSON-RPC codes that the protocol and JSON-RPC itself reserve (docs/protocol/errors.md#json-rpc-codes). */
const byRpcCode: Readonly<Record<number, readonly [code: string, recovery: Recovery]>> = {
  [-32029]: ["RATE_LIMITED", "transient"],
  [-32028]: ["AUTH_REQUIRED", "correctable"],
  [-32027]: ["SERVICE_UNAVAILABLE", "transient"],
  [-32601]: ["UNSUPPORTED_FEATURE", "correctable"],
  [-32602]: ["INVALID_REQUEST", "correctable"],
  [-32603]: ["SERVICE_UNAVAILABLE", "transient"],
};

/**
 * JSON-RPC codes of what was refused before anything was done. Every other one may come after it, also of what stands between:
 * an internal error, a server's own, the time that a gateway waits for an agent.
 */
const undone: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32602, -32029, -32028, -32027]);

/** A2A's own: the agent sends no notifications, and what was asked with a place for them was not done. */
const NO_PUSH = -32003;

export const localError = (
  code: string,
  message: string,
  recovery: Recovery,
  more: { retry_after?: number; field?: string; details?: JsonObject } = {},
): LocalError => ({ code, message, recovery, source: "buyer", ...more });

/** Of a call that was not waited for. @param late its own time was over, and not its caller's patience */
export const endedCall = (late: boolean): LocalError =>
  late
    ? localError("DEADLINE_EXCEEDED", "The call took longer than its deadlineMs", "terminal")
    : localError("CALL_ABORTED", "The caller ended the call", "terminal");

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What a request came to that did not come to an answer. `lost`: whether the agent acted on it is not known. */
export interface Miss {
  readonly error: TransportError;
  readonly lost: boolean;
}

/** The code a verifier gives in its challenge; in quotes, or as the token that some write. */
const signatureError = (challenge: string): string | undefined =>
  /(?:^|,)\s*Signature\b[^,]*?\berror="?([a-z_]{1,64})\b/i.exec(challenge)?.[1];

/**
 * A fault of the wire as an error of the protocol: the one in its body where there is one. What a challenge says
 * stands in its details; the code of a signature that was refused apart, with its recovery.
 */
export function missOf(fault: WireFault, word: string, release?: Release): Miss {
  const miss = unsignedMissOf(fault, word);
  const { challenge } = fault;
  if (challenge === undefined) return miss;
  const code = signatureError(challenge);
  const recovery = code === undefined ? undefined : signingRecovery(release, code);
  const details = {
    ...(isJsonObject(miss.error.details) && miss.error.details),
    challenge: shortText(challenge),
    ...(code !== undefined && { signature_error: code }),
  };
  return { ...miss, error: { ...miss.error, details, ...(recovery !== undefined && { recovery }) } };
}

function unsignedMissOf(fault: WireFault, word: string): Miss {
  // It may have acted: what was registered for it stays.
  if (fault.unread) return { error: localError("ANSWER_TOO_LARGE", fault.message, "terminal"), lost: true };
  const stated = fault.body === "" ? null : extractTransportError(parse(fault.body), word);
  const after = fault.retryAfter === undefined ? {} : { retry_after: fault.retryAfter };
  if (stated !== null) return { error: { ...after, ...stated }, lost: false };
  const { status } = fault;
  const unheard = status !== undefined && gaveUp.has(status);
  const known = status === undefined ? undefined : byStatus[status];
  if (known !== undefined) return { error: localError(known[0], fault.message, known[1], after), lost: unheard };
  if (status !== undefined && status < 500) {
    return { error: localError("INVALID_REQUEST", fault.message, "correctable"), lost: unheard };
  }
  // Addresses that may not be reached, names that do not exist: trying again changes nothing, and nothing was sent.
  const recovery = fault.retryable ? "transient" : "terminal";
  return {
    error: localError("SERVICE_UNAVAILABLE", fault.message, recovery, after),
    lost: fault.retryable && !fault.unsent,
  };
}

/** A JSON-RPC error as an error of the protocol. @param refused its transport says that nothing was done */
export function missOfRpc(
  error: { code: number; message: string; data?: unknown },
  word: string,
  refused: boolean,
): Miss {
  const stated = extractTransportError({ error }, word);
  if (stated !== null) return { error: stated, lost: false };
  if (refused && error.code === NO_PUSH)
    return {
      error: localError("UNSUPPORTED_FEATURE", shortText(error.message), "correctable", {
        field: "push_notification_config",
      }),
      lost: false,
    };
  const [code, recovery] = byRpcCode[error.code] ?? ["SERVICE_UNAVAILABLE", "correctable"];
  return { error: localError(code, shortText(error.message), recovery), lost: !refused && !undone.has(error.code) };
}
