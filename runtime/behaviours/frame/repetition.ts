/** What ports are told comes with a key, by which they know a repetition of it: whoever is told twice under one does it once. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { requestHash } from "../../seller/idempotency.js";
import type { BehaviourToolCall } from "./call.js";

/**
 * The same for every repetition of a call, in whichever process, and for no other call: keys of callers are an account's own, and
 * one whose call has failed may come again with another request.
 * @param request as it was received
 * @param at which of the things that the call does it is for
 * @returns 40 hexadecimal digits
 */
export function repetitionOf(call: BehaviourToolCall, request: object, at: number | string): string {
  const { principal, tool, context } = call;
  const { account, idempotencyKey, taskId } = context;
  const parts = [principal, tool, account ?? null, idempotencyKey ?? taskId, requestHash(tool, { ...request }), at];
  return createHash("sha256").update(canonicalize(parts)!).digest("hex").slice(0, 40);
}
