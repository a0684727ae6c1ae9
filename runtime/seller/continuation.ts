/** Calls that answer what a task asks: which task is meant, and how a caller is told what to name. */
import type { AnyTool, JsonObject, Release } from "../contract/index.js";
import type { SellerTaskRow } from "../store/seller-task.js";
import type { Call } from "../transport/answerer.js";
import { type FaultDetails, ToolError } from "./tool-error.js";

/** The task that a call names asks nothing. */
export class TaskNotWaiting extends ToolError {
  constructor({ task_id: id, status }: Pick<SellerTaskRow, "task_id" | "status">, more: FaultDetails = {}) {
    // Releases call a conflict transient: but what is sent again unchanged might answer the next question.
    super("CONFLICT", `task ${id} is ${status} and waits for no message`, { recovery: "correctable", ...more });
  }
}

/** Over MCP the releases that thread `context_id` know a conversation by it: here that of one task. */
const threads = ({ transport }: Pick<Call, "transport">, { facts }: Release): boolean =>
  transport === "mcp" && facts.envelope.contextId.value === "threaded";

/**
 * What names the conversation of a task, in answers that ask something: told of others too, a caller would carry it into the
 * next call of the same tool, which is an order of its own.
 */
export const threadMember = (call: Call, release: Release, taskId: string): JsonObject =>
  threads(call, release) ? { context_id: taskId } : {};

/**
 * The task that a call goes on with: the caller's own, of the same tool, and waiting for it. A conversation that names none is
 * a call of its own.
 * @throws TaskNotWaiting where the transport names a task that waits for nobody, or the conversation is that of such a task and
 *   the tool changes something: an answer that comes twice would be a second order
 */
export async function continuedTask(
  taskRow: (taskId: string) => Promise<SellerTaskRow | undefined>,
  call: Call,
  { args, served, servedRelease }: { args: JsonObject; served: { tool: AnyTool }; servedRelease: { release: Release } },
): Promise<SellerTaskRow | undefined> {
  const threaded =
    threads(call, servedRelease.release) && typeof args.context_id === "string" ? args.context_id : undefined;
  const id = call.continues ?? threaded;
  if (id === undefined) return undefined;
  const row = await taskRow(id);
  if (row === undefined || row.principal !== call.identity.principal || row.tool !== served.tool.name) return undefined;
  if (row.status === "input-required") return row;
  if (call.continues !== undefined) throw new TaskNotWaiting(row);
  if (!served.tool.mutating) return undefined;
  const suggestion = "Ask for the task's status; for a call of its own leave out the context_id of the task.";
  throw new TaskNotWaiting(row, { field: "context_id", suggestion });
}
