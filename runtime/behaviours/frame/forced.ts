/** What a test has ordered the caller's next call of a tool to be answered with, once. */
import canonicalize from "canonicalize";
import type { JsonObject, TaskStatus } from "../../contract/index.js";
import { freeTaskId } from "../../seller/ordered-tasks.js";
import { type ControllerScenario, ScenarioError, type Scenarios, textParam } from "./behaviour.js";
import type { BehaviourCall, BehaviourReply, BehaviourToolCall } from "./call.js";
import { collection, type DocumentOwner } from "./collection.js";

export interface ForcedAnswer {
  readonly arm: TaskStatus;
  readonly task_id?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly suggestions?: readonly string[];
}

const kept = collection<ForcedAnswer>("forced_answer");
/** The tool of a task that was ordered. */
const tools = collection<{ readonly tool: string }>("forced_task");

/** Tasks that the caller's tests have ordered go, so that their ids are free for whoever orders them next. */
export async function resetForced(call: BehaviourCall): Promise<void> {
  for (const id of await tools.ids(call, call.principal)) await freeTaskId(call.ctx, id, true);
}

/**
 * Ordered for one account where the order names one; else for whatever account the caller names next. Orders say that it is a
 * sandbox, since they have to; the call that is to be answered may leave it out.
 */
const ownerOf = ({ principal, ctx: { account } }: BehaviourCall): DocumentOwner => {
  const { sandbox: _, ...named } = account ?? {};
  const whole = named.brand === undefined && named.account_id === undefined;
  return whole ? principal : { principal, part: canonicalize(named) ?? "" };
};

/** What is ordered of the tool of this call; it holds for this call alone. */
export async function forcedAnswer(call: BehaviourToolCall): Promise<ForcedAnswer | undefined> {
  if (call.ctx.mode !== "development") return undefined;
  for (const owner of new Set([ownerOf(call), call.principal])) {
    const found = await kept.get(call, owner, call.tool);
    if (found === undefined) continue;
    kept.remove(call, owner, call.tool);
    if (found.task_id === undefined || (await freeTaskId(call.context, found.task_id, false))) return found;
    const { principal, tool } = call;
    call.ctx.logger?.warn(
      { principal, tool, taskId: found.task_id },
      "an ordered answer is not given: its task's id is taken",
    );
    return undefined;
  }
  return undefined;
}

/** The answer that was ordered. */
export function forcedReply(call: BehaviourToolCall, forced: ForcedAnswer): BehaviourReply {
  const { arm, task_id, message, reason, suggestions } = forced;
  // The seller has understood, and declines: an answer, and no fault.
  if (arm === "rejected") return { status: "rejected", data: { reason, ...(suggestions && { suggestions }) } };
  const said = message === undefined ? {} : { message };
  return (
    arm === "input-required"
      ? call.context.inputRequired({ reason: "APPROVAL_REQUIRED", ...said })
      : call.context.submitted({ ...(task_id !== undefined && { task_id }), ...said })
  ) as BehaviourReply;
}

/**
 * A storyboard orders the same id each time it is run: the task of the run before makes way. Nothing that was not ordered does.
 * @throws ScenarioError
 */
async function claimId(call: BehaviourCall, id: string, tool: string): Promise<void> {
  const earlier = await tools.get(call, call.principal, id);
  if (await freeTaskId(call.ctx, id, earlier !== undefined)) return;
  // Nor is the call answered as somebody has ordered before.
  kept.remove(call, ownerOf(call), tool);
  throw new ScenarioError(
    "INVALID_PARAMS",
    `params.task_id: there is a task ${id} that you have not ordered; give another id`,
  );
}

const force =
  (tool: string): ControllerScenario =>
  async (params, call) => {
    const arm = textParam(params, "arm");
    if (arm !== "submitted" && arm !== "input-required" && arm !== "rejected")
      throw new ScenarioError("INVALID_PARAMS", "params.arm must be submitted, input-required or rejected");
    if (call.shapes.answer("comply_test_controller").values("forced", "arm")?.includes(arm) === false)
      throw new ScenarioError("INVALID_PARAMS", `params.arm: release ${call.release.version} has no arm ${arm}`);
    const task = arm === "submitted" ? { task_id: textParam(params, "task_id") } : {};
    const { message, suggestions } = params as Pick<ForcedAnswer, "message" | "suggestions">;
    const declined =
      arm === "rejected" ? { reason: textParam(params, "reason"), ...(suggestions && { suggestions }) } : {};
    if (task.task_id !== undefined) {
      await claimId(call, task.task_id, tool);
      tools.put(call, call.principal, task.task_id, { tool });
    }
    kept.put(call, ownerOf(call), tool, { arm, ...task, ...declined, ...(message !== undefined && { message }) });
    return { forced: { arm, ...task, ...declined } };
  };

/** `force_<tool>_arm` for each tool, and the end of a task that came of it. */
export const forcedScenarios = {
  force_create_media_buy_arm: force("create_media_buy"),
  force_get_products_arm: force("get_products"),
  force_get_signals_arm: force("get_signals"),
  async force_task_completion(params, call) {
    const id = textParam(params, "task_id");
    const { result } = params as { result?: JsonObject };
    if (result === undefined) throw new ScenarioError("INVALID_PARAMS", "params.result must be an object");
    const of = await tools.get(call, call.principal, id);
    if (of === undefined) throw new ScenarioError("NOT_FOUND", `no task ${id}`);
    // What every answer of the tool says, whatever is in it.
    const scoped = call.shapes.answer(of.tool).requires("cache_scope") ? { cache_scope: "account" } : {};
    try {
      await call.task(id).complete({ ...scoped, ...result });
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code === "transition_refused") throw new ScenarioError("INVALID_TRANSITION", message, "completed");
      throw new ScenarioError(code === "event_invalid" ? "INVALID_PARAMS" : "NOT_FOUND", message);
    }
    return { previous_state: "submitted", current_state: "completed" };
  },
} satisfies Scenarios;
