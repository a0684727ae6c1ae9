/** How an order is answered: booked at once, or when somebody has signed it. Until then there is a task and no media buy. */

import { StaleDocument } from "../../store/documents.js";
import { checkCommitment } from "../accounts/commitment.js";
import { findBuy, type MediaBuy, saveBuy } from "../buys/buys.js";
import type { BehaviourReply, BehaviourToolCall } from "../frame/call.js";
import { type ForcedAnswer, forcedAnswer, forcedReply } from "../frame/forced.js";
import { askApproval } from "./approved.js";
import { keepForcedOrder } from "./forced-order.js";
import { checkPlan } from "./governed.js";
import {
  abandonedAtOnce,
  awaited,
  findInstruction,
  finishInstruction,
  InstructionOver,
  instruct,
  instructionKey,
  keepInstruction,
} from "./instructions.js";
import { checkOrder, commitmentOf, saveAgreement, type WantedOrder } from "./orders.js";
import { bookedAnswer } from "./shown.js";
import { tellAdServer } from "./telling.js";

export async function createMediaBuy(request: WantedOrder, call: BehaviourToolCall): Promise<BehaviourReply> {
  const forced = await forcedAnswer(call);
  if (forced !== undefined) return forcedOrder(forced, request, call);
  const again = await orderAgain(call);
  if (again !== undefined) return again;
  const key = await instructionKey(call);
  const { buy, total, guaranteed } = await checkOrder(call, request);
  await checkPlan(call, buy, { tool: call.tool, request: { ...request }, amount: total });
  await checkCommitment(call, commitmentOf(call.tool, buy, total));
  const { decision, message } = await askApproval(call, buy, { total, guaranteed });
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
    tellSigner(call, total);
    return submitted(call, message);
  }
  const outcome = await instruct(call, { key, kind: "book", buy });
  if (outcome.kind === "refused") throw outcome.error;
  if (outcome.kind === "open") return unconfirmed(call, key);
  await saveBuy(call, outcome.buy);
  saveAgreement(call, outcome.buy);
  return booked(call, outcome.buy);
}

/** Nobody else tells the person who is to sign; in development nobody has to. */
function tellSigner({ ctx, principal, context: { taskId } }: BehaviourToolCall, total: number): void {
  if (ctx.mode === "production")
    ctx.logger?.warn(
      { principal, taskId, total },
      "an order waits for a signature: `decide` of the seller books or rejects it",
    );
}

/**
 * What a repetition of a call comes to that did not live to answer, or whose answer was a task: the order is the one that was
 * placed then. Undefined for a call that is made the first time.
 */
export async function orderAgain(call: BehaviourToolCall): Promise<BehaviourReply | undefined> {
  const key = await instructionKey(call);
  const known = await findInstruction(call, key);
  if (known === undefined || known.kind !== "book") return undefined;
  if (known.state === "done") return booked(call, (await findBuy(call, known.buy.media_buy_id)) ?? known.buy);
  if (known.state === "signature") {
    keepInstruction(call, { ...known, taskId: call.context.taskId });
    return submitted(call);
  }
  const outcome = await tellAdServer(call, known);
  if (outcome.kind === "open") return unconfirmed(call, key);
  if (outcome.kind === "refused") {
    await abandonedAtOnce(call, known);
    throw outcome.error;
  }
  try {
    return await booked(call, await finishInstruction(call, known, outcome.buy));
  } catch (error) {
    // Another process has carried it on meanwhile: what came of it is found by doing this again.
    if (!(error instanceof InstructionOver)) throw error;
    throw new StaleDocument({ collection: "ad_server_instruction", owner: call.principal, id: key });
  }
}

async function unconfirmed(call: BehaviourToolCall, key: string): Promise<BehaviourReply> {
  await awaited(call, key);
  return submitted(call, "The ad server has not confirmed the order yet.");
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
  if (forced.arm === "submitted") {
    const { buy } = await checkOrder(call, request);
    if (forced.task_id !== undefined) keepForcedOrder(call, forced.task_id, buy);
  }
  return forcedReply(call, forced);
}
