/** How an order is answered: booked at once, or when somebody has signed it. Until then there is a task and no media buy. */
import { findBuy, type MediaBuy, saveBuy } from "../buys/buys.js";
import type { BehaviourReply, BehaviourToolCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { awaited, findInstruction, instruct, instructionKey, keepInstruction } from "./instructions.js";
import { checkOrder, orderFor, type WantedOrder } from "./orders.js";
import { bookedAnswer } from "./shown.js";

export interface ForcedAnswer {
  readonly arm: "submitted" | "input-required";
  readonly task_id?: string;
  readonly message?: string;
}

/** What the caller's next order is answered with, once; a test says so. */
export const forcedAnswers = collection<ForcedAnswer>("forced_answer");
export const FORCED_ORDER = "create_media_buy";

export async function createMediaBuy(request: WantedOrder, call: BehaviourToolCall): Promise<BehaviourReply> {
  const forced = await forcedAnswers.get(call, call.principal, FORCED_ORDER);
  if (forced !== undefined) return forcedReply(forced, request, call);
  const key = instructionKey(call);
  // A repetition of a call that did not live to answer, or whose answer was a task.
  const known = await findInstruction(call, key);
  if (known?.state === "done") return booked(call, (await findBuy(call, known.buy.media_buy_id)) ?? known.buy);
  const { buy, total, guaranteed } = await checkOrder(call, request);
  const order = orderFor(call, buy);
  const { decision, message } = await call.ports.approvals.ask({ order, total, guaranteed, mode: call.context.mode });
  if (decision === "wait") {
    const due = call.ctx.now() + (call.ports.approvals.signAfterMs ?? 0);
    const writes = call.documents.changes();
    const instruction = { key, kind: "book", buy, writes, attempts: 0, release: call.release.version } as const;
    keepInstruction(call, { ...instruction, state: "signature", taskId: call.context.taskId, due });
    return submitted(call, message);
  }
  const outcome = await instruct(call, key, "book", known?.buy ?? buy);
  if (outcome.kind === "refused") throw outcome.error;
  if (outcome.kind === "done") {
    await saveBuy(call, outcome.buy);
    return booked(call, outcome.buy);
  }
  awaited(call, (await findInstruction(call, key))!);
  return submitted(call, "The ad server has not confirmed the order yet.");
}

const submitted = (call: BehaviourToolCall, message?: string): BehaviourReply =>
  call.context.submitted({ ...(message !== undefined && { message }) } as never) as BehaviourReply;

const booked = async (call: BehaviourToolCall, buy: MediaBuy): Promise<BehaviourReply> => ({
  status: "completed",
  data: await bookedAnswer(call, buy),
});

async function forcedReply(
  { arm, task_id, message }: ForcedAnswer,
  request: WantedOrder,
  call: BehaviourToolCall,
): Promise<BehaviourReply> {
  forcedAnswers.remove(call, call.principal, FORCED_ORDER);
  const said = message === undefined ? {} : { message };
  if (arm === "input-required")
    return call.context.inputRequired({ reason: "APPROVAL_REQUIRED", ...said } as never) as BehaviourReply;
  const { buy } = await checkOrder(call, request);
  // The order is there when the task is forced to its end.
  const writes = call.documents.changes();
  const instruction = { key: instructionKey(call), kind: "book", buy, writes, attempts: 0 } as const;
  const taskId = task_id ?? call.context.taskId;
  const never = Number.MAX_SAFE_INTEGER;
  keepInstruction(call, { ...instruction, state: "signature", taskId, due: never, release: call.release.version });
  return call.context.submitted({ task_id: taskId, ...said } as never) as BehaviourReply;
}
