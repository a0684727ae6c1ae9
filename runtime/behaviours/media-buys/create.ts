/** How an order is answered: booked at once, or when somebody has signed it. Until then there is a task and no media buy. */
import { ToolError } from "../../seller/tool-error.js";
import { findAccount } from "../accounts/accounts.js";
import { checkCommitment } from "../accounts/commitment.js";
import { findBuy, type MediaBuy, saveBuy } from "../buys/buys.js";
import type { BehaviourReply, BehaviourToolCall } from "../frame/call.js";
import { type ForcedAnswer, forcedAnswer, forcedReply } from "../frame/forced.js";
import { denialOf } from "../governance/authority.js";
import { awaited, findInstruction, instruct, instructionKey, keepInstruction } from "./instructions.js";
import { checkOrder, commitmentOf, orderFor, type WantedOrder } from "./orders.js";
import { bookedAnswer } from "./shown.js";

export async function createMediaBuy(request: WantedOrder, call: BehaviourToolCall): Promise<BehaviourReply> {
  const forced = await forcedAnswer(call);
  if (forced !== undefined) return forcedOrder(forced, request, call);
  const key = instructionKey(call);
  // A repetition of a call that did not live to answer, or whose answer was a task.
  const known = await findInstruction(call, key);
  if (known?.state === "done") return booked(call, (await findBuy(call, known.buy.media_buy_id)) ?? known.buy);
  const { buy, total, guaranteed } = await checkOrder(call, request);
  await checkPlan(call, request, { buy, total });
  if (known === undefined) await checkCommitment(call, commitmentOf(call.tool, buy, total));
  const order = orderFor(call, buy);
  const { decision, message } = await call.ports.approvals.ask({ order, total, guaranteed, mode: call.context.mode });
  if (decision === "wait") {
    const due = call.ctx.now() + (call.ports.approvals.signAfterMs ?? 0);
    const writes = call.documents.changes();
    const instruction = {
      key,
      kind: "book",
      tool: call.tool,
      buy,
      writes,
      attempts: 0,
      release: call.release.version,
    } as const;
    keepInstruction(call, { ...instruction, state: "signature", taskId: call.context.taskId, due });
    return submitted(call, message);
  }
  const outcome = await instruct(call, { key, kind: "book", buy: known?.buy ?? buy, known });
  if (outcome.kind === "refused") throw outcome.error;
  if (outcome.kind === "done") {
    await saveBuy(call, outcome.buy);
    return booked(call, outcome.buy);
  }
  await awaited(call, key);
  return submitted(call, "The ad server has not confirmed the order yet.");
}

/** @throws ToolError GOVERNANCE_DENIED where a plan that is kept here governs the account, and does not allow the order */
async function checkPlan(
  call: BehaviourToolCall,
  request: WantedOrder,
  { buy, total }: { readonly buy: MediaBuy; readonly total: number },
): Promise<void> {
  const account = await findAccount(call, buy.account_id);
  if (account === undefined) return;
  const denial = await denialOf(call, account, { tool: call.tool, request: { ...request }, amount: total });
  if (denial !== undefined) throw new ToolError("GOVERNANCE_DENIED", denial.message, { details: denial.details });
}

const submitted = (call: BehaviourToolCall, message?: string): BehaviourReply =>
  call.context.submitted({ ...(message !== undefined && { message }) }) as BehaviourReply;

const booked = async (call: BehaviourToolCall, buy: MediaBuy): Promise<BehaviourReply> => ({
  status: "completed",
  data: await bookedAnswer(call, buy, call.tool),
});

async function forcedOrder(
  forced: ForcedAnswer,
  request: WantedOrder,
  call: BehaviourToolCall,
): Promise<BehaviourReply> {
  // What cannot be booked is refused all the same.
  if (forced.arm === "submitted") await checkOrder(call, request);
  return forcedReply(call, forced);
}
