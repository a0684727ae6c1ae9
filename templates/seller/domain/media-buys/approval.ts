/**
 * How an order is answered: booked at once, or, where a lot of guaranteed inventory is at stake, after a human has
 * signed the insertion order. Until then there is a task and no media buy.
 */
import { type ArmReply, type TaskHandle, ToolError } from "adbind/seller";
import type { Call, Tool, ToolCall, Tx } from "../../handler.js";
import { book, checkOrder, type Wanted } from "./create.js";

type Reply = ArmReply<Tool<"create_media_buy">, "completed" | "submitted" | "input-required">;

/** In development nobody is there to sign: the insertion order moves on by itself, a step after so many milliseconds. */
const STEP_MS = 400;
const step = () => new Promise((resolve) => setTimeout(resolve, STEP_MS));

interface Forced {
  readonly arm: "submitted" | "input-required";
  readonly task_id?: string;
  readonly message?: string;
}

const FORCED = "forced_answer";
/** Orders that wait for a signature, by their task. */
const WAITING = "waiting_order";

/** What the caller's next order is answered with, once. */
export const forceNextAnswer = (call: Call, forced: Forced): void =>
  call.documents.put(FORCED, call.principal, "create_media_buy", forced);

export function answerOrder(request: Wanted, call: ToolCall<"create_media_buy">): Reply {
  const forced = call.documents.get<Forced>(FORCED, call.principal, "create_media_buy");
  if (forced !== undefined) {
    call.documents.remove(FORCED, call.principal, "create_media_buy");
    return forcedAnswer(forced, request, call);
  }
  const order = checkOrder(call, request);
  if (!order.guaranteed || order.total < call.signedFrom) return call.answer(book(call, request, order));
  const taskId = call.ctx.taskId;
  call.documents.put(WAITING, call.principal, taskId, { request });
  const data = { message: "The insertion order waits for a signature; that takes two to four hours." };
  if (call.ctx.mode === "production") return call.ctx.submitted(data as never);
  return call.ctx.submitted(data as never, async (task) => {
    if (call.signingSteps) {
      await step();
      await task.working({ percentage: 50, current_step: "insertion order drawn up" } as never);
      await step();
      await task.inputRequired({ reason: "APPROVAL_REQUIRED" } as never);
    }
    await step();
    await signOrder(await call.again(), taskId, task);
  });
}

/** An order's task, as `seller.task(id)` gives it. */
type OrderTask = Pick<TaskHandle<Tool<"create_media_buy">, Tx>, "complete" | "reject">;

/**
 * A human has signed: the waiting order is booked, and its task is over. An order that cannot be booked any more, because
 * its flight has begun or its account was closed, is rejected.
 *
 *     const { seller, callFor } = await openSeller(...);
 *     await signOrder(await callFor(principal), taskId, seller.task(taskId)); // seller.unfinished() lists what waits
 */
export async function signOrder(call: Call, taskId: string, task: OrderTask): Promise<void> {
  try {
    await bookWaiting(call, taskId, task);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    // What another call changed meanwhile is no fault of the order: it is looked through again, as things are now.
    if (error.fault.code === "CONFLICT") return signOrder(await call.again(), taskId, task);
    await task.reject(error.fault);
  }
}

async function bookWaiting(call: Call, taskId: string, task: OrderTask): Promise<void> {
  const waiting = call.documents.get<{ request: Wanted }>(WAITING, call.principal, taskId);
  if (waiting === undefined) throw new Error(`no order waits under task ${taskId}`);
  call.documents.remove(WAITING, call.principal, taskId);
  const effect = (tx: Tx) => call.documents.commit(tx);
  const booked = book(call, waiting.request, checkOrder(call, waiting.request));
  await task.complete(booked as never, { effect });
}

function forcedAnswer(forced: Forced, request: Wanted, call: ToolCall<"create_media_buy">): Reply {
  const { arm, task_id, message } = forced;
  if (arm === "input-required")
    return call.ctx.inputRequired({ reason: "APPROVAL_REQUIRED", ...(message !== undefined && { message }) } as never);
  checkOrder(call, request);
  return call.ctx.submitted({ task_id, ...(message !== undefined && { message }) } as never);
}
