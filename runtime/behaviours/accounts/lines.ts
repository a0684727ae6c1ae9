/** Lines that `sync_accounts` answers: releases say differently what a line is known by. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { lineErrors } from "../frame/line-error.js";
import type { Account } from "../ports/accounts.js";
import { type AccountRef, shownAccount } from "./accounts.js";
import type { WantedAccount } from "./wanted.js";

/** Where a release has lines known by the reference they were asked by, such a line has neither brand nor operator. */
const knownByRef = (call: BehaviourCall): boolean =>
  call.shapes.answer("sync_accounts").has("accounts", "*", "account");

/** A line of an account as it is now. */
export function lineOf(
  call: BehaviourCall,
  { account: ref }: WantedAccount,
  account: Account,
  action: string,
): JsonObject {
  const { governance_agents: _, brand, operator, ...shown } = shownAccount(account) as JsonObject;
  const of = ref !== undefined && knownByRef(call) ? { account: ref } : { brand, operator };
  return { ...of, ...shown, action };
}

interface FailedLine {
  readonly wanted: WantedAccount;
  readonly ref: AccountRef;
  /** The account, where it is there. */
  readonly before: Account | undefined;
  /** The line's place in the request. */
  readonly at: string;
}

/**
 * A line that came to nothing. A state is told of an account that is there; older releases want one all the same.
 * @throws ToolError where the release has no line for an account that nobody knows
 */
export function failedLine(call: BehaviourCall, { wanted, ref, before, at }: FailedLine, error: ToolError): JsonObject {
  const errors = lineErrors(call, error, at);
  const line = { action: "failed", errors };
  if (before !== undefined) {
    const { account, brand, operator, account_id, status, revision } = lineOf(call, wanted, before, "failed");
    return { account, brand, operator, account_id, status, revision, ...line };
  }
  if (knownByRef(call)) {
    const { brand, operator } = ref;
    return { ...(wanted.account === undefined ? { brand, operator } : { account: wanted.account }), ...line };
  }
  if (ref.brand === undefined) throw new ToolError(error.code, error.message, { field: errors[0]?.field ?? at });
  return { brand: ref.brand, operator: ref.operator, status: "rejected", ...line };
}
