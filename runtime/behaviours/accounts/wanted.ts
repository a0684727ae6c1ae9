/** What a line of `sync_accounts` asks for, and what of it is offered here. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { NotificationConfig } from "../../sender/types.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Account } from "../ports/accounts.js";
import { type AccountRef, boundBy, isSandboxInProduction } from "./accounts.js";

/** A line names a new or a known account by its brand, or, to change settings only, one that is there in `account`. */
export interface WantedAccount extends AccountRef {
  readonly billing?: string;
  readonly billing_entity?: JsonObject;
  readonly payment_terms?: string;
  readonly notification_configs?: readonly NotificationConfig[];
  readonly account?: AccountRef;
  readonly revision?: number;
  readonly operator_identity?: JsonObject;
  readonly destination_billing_entity?: JsonObject;
  readonly reporting_delivery_configs?: readonly JsonObject[];
}

/** Does the release have this member of a line? One that it has not is nobody's to mind. */
const knows = (call: BehaviourCall, name: string): boolean =>
  call.shapes.request("sync_accounts").has("accounts", "*", name);

/** The account that a line is about. */
export function refOf(call: BehaviourCall, wanted: WantedAccount): AccountRef {
  if (wanted.account !== undefined) return wanted.account;
  const { account_id, brand, operator, operator_unit: unit, currency, timezone, sandbox } = wanted;
  return {
    ...(account_id !== undefined && { account_id }),
    ...(brand !== undefined && { brand }),
    ...(operator !== undefined && { operator }),
    ...(unit !== undefined && knows(call, "operator_unit") && { operator_unit: unit }),
    ...(currency !== undefined && knows(call, "currency") && { currency }),
    ...(timezone !== undefined && knows(call, "timezone") && { timezone }),
    ...(sandbox !== undefined && { sandbox }),
  };
}

interface Line {
  /** The account, where it is there. */
  readonly before: Account | undefined;
  /** The line's place in the request. */
  readonly at: string;
}

/**
 * @throws ToolError with the place in the line: for settings of an account that is not there, for what is not offered, and for
 * a revision that has passed
 */
export function checkOffered(call: BehaviourCall, wanted: WantedAccount, { before, at }: Line): void {
  const { account, billing, revision } = wanted;
  if (account !== undefined && before === undefined) throw notThere(call, account, at);
  const unsupported = [
    ...boundBy(refOf(call, wanted)),
    ...(isSandboxInProduction(call, refOf(call, wanted)) ? ["sandbox"] : []),
    ...["operator_identity", "destination_billing_entity", "reporting_delivery_configs"].filter(
      (name) => isAsked(wanted[name as keyof WantedAccount]) && knows(call, name),
    ),
  ];
  for (const field of unsupported)
    throw new ToolError("UNSUPPORTED_FEATURE", `${field} of accounts is not offered here`, { field });
  if (billing !== undefined && !call.ports.accounts.billing.includes(billing))
    throw new ToolError(
      call.shapes.knowsError("BILLING_NOT_SUPPORTED") ? "BILLING_NOT_SUPPORTED" : "UNSUPPORTED_FEATURE",
      `billing by ${billing} is not offered here`,
      { field: "billing", recovery: "correctable" },
    );
  if (revision !== undefined && before !== undefined && knows(call, "revision") && revision !== before.revision)
    throw new ToolError("CONFLICT", `the account is at revision ${before.revision}: read it again`, {
      field: "revision",
    });
}

const isAsked = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0);

/**
 * An id is somebody else's or nobody's; a brand could be provisioned, but not by changing its settings. Which line that is, the
 * error says itself.
 */
function notThere(call: BehaviourCall, { account_id: id }: AccountRef, at: string): ToolError {
  if (id !== undefined)
    return new ToolError("ACCOUNT_NOT_FOUND", `no account ${id}`, { field: `${at}.account.account_id` });
  return new ToolError(
    call.shapes.knowsError("UNSUPPORTED_PROVISIONING") ? "UNSUPPORTED_PROVISIONING" : "ACCOUNT_NOT_FOUND",
    "no such account, and settings open none: send brand, operator and billing to open it",
    { field: `${at}.account` },
  );
}
