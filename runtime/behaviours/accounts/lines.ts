/** Lines that `sync_accounts` answers: releases say differently what a line is known by. */
import type { JsonObject } from "../../contract/index.js";
import type { ToolError } from "../../seller/tool-error.js";
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
}

/**
 * A line that came to nothing. Where lines are known by their reference, an account that is there has the state it has, one that
 * was asked for and is declined is rejected, and nothing is said of one that nobody knows; older releases have the line itself
 * rejected.
 * @throws ToolError where the release has no line for an account that nobody knows
 */
export function failedLine(call: BehaviourCall, { wanted, ref, before }: FailedLine, error: ToolError): JsonObject {
  const line = { action: "failed", errors: lineErrors(call, error) };
  const {
    account,
    brand = ref.brand,
    operator = ref.operator,
    ...known
  } = before === undefined ? ({} as JsonObject) : lineOf(call, wanted, before, "failed");
  if (knownByRef(call)) {
    const { account_id, status, revision } = known;
    if (wanted.account !== undefined) return { account: wanted.account, account_id, status, revision, ...line };
    return { brand, operator, account_id, status: status ?? "rejected", revision, ...line };
  }
  if (brand === undefined) throw error;
  return { account, brand, operator, account_id: known.account_id, status: "rejected", ...line };
}
