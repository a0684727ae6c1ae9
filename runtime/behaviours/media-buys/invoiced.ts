/** Who pays for an order: the account, or somebody whom the account may name. */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Account } from "../ports/accounts.js";

/** Nothing is said of the recipient that the account does not say of its own billing entity. */
const isOwn = ({ billing_entity: own }: Account, recipient: JsonObject): boolean =>
  own !== undefined && Object.entries(recipient).every(([name, value]) => isDeepStrictEqual(own[name], value));

/** @throws ToolError PERMISSION_DENIED for somebody who is not known to pay for the account */
export async function checkInvoiced(call: BehaviourCall, account: Account, recipient: unknown): Promise<void> {
  if (recipient == null || isOwn(account, recipient as JsonObject)) return;
  if ((await call.ports.accounts.mayInvoice?.(account, recipient as JsonObject)) === true) return;
  throw new ToolError("PERMISSION_DENIED", "orders of this account are not invoiced to that recipient", {
    field: "invoice_recipient",
  });
}
