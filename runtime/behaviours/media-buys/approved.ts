/** Whether a person has to sign: an order that is placed, and a change that makes more of one. */
import { AdbindError } from "../../errors.js";
import { ToolError } from "../../seller/tool-error.js";
import { budgetOf, isLivePackage, type MediaBuy } from "../buys/buys.js";
import type { BehaviourToolCall } from "../frame/call.js";
import type { Approval } from "../ports/approvals.js";
import { orderFor, promisesImpressions } from "./orders.js";

/** @throws AdbindError `port_answer_invalid` for an answer that lets nothing pass */
export async function askApproval(
  call: BehaviourToolCall,
  buy: MediaBuy,
  of: { readonly total: number; readonly guaranteed: boolean },
): Promise<Approval> {
  const approval = await call.ports.approvals.ask({ order: orderFor(call, buy), ...of, mode: call.context.mode });
  if (approval.decision === "go" || approval.decision === "wait") return approval;
  throw new AdbindError("port_answer_invalid", `an order's approval is ${String(approval.decision)}`, {
    where: "ask of the port approvals",
    remedy: "answer go or wait; throw a ToolError to refuse the order",
  });
}

/**
 * What would have waited for a signature as an order does not come about by changing a smaller one.
 * @throws ToolError REQUOTE_REQUIRED where somebody would have to sign
 */
export async function checkStillApproved(call: BehaviourToolCall, before: MediaBuy, after: MediaBuy): Promise<void> {
  const known = new Set(before.packages.map(({ package_id }) => package_id));
  const live = after.packages.filter(isLivePackage);
  const total = budgetOf(after);
  if (total <= budgetOf(before) && live.every(({ package_id }) => known.has(package_id))) return;
  const guaranteed = await promisesImpressions(call, live);
  const { decision, message } = await askApproval(call, after, { total, guaranteed });
  if (decision === "go") return;
  const code = call.shapes.knowsError("REQUOTE_REQUIRED") ? "REQUOTE_REQUIRED" : "INVALID_REQUEST";
  const why = message === undefined ? "" : ` ${message}`;
  throw new ToolError(code, `The order would need a signature at that size: place what is added as its own.${why}`, {
    details: { envelope_field: "packages" },
  });
}
