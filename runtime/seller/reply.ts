/** A handler's reply, on its way to become an answer. */
import { type AnyTool, isTaskStatus, isTerminal, type JsonObject, type TaskStatus } from "../contract/index.js";
import { isObject } from "./json-object.js";
import type { ServedTool, Spoken } from "./spoken.js";

/** Fills in the task's status, unless the tool's own `status` is a state of its domain. */
export const statusMember = (
  { domainStatus }: Spoken<never>,
  { tool }: ServedTool<never>,
  status: TaskStatus,
): JsonObject => (isTerminal(status) && domainStatus.has(tool.name) ? {} : { status });

/** A handler's reply: typed, and still checked, since not every application compiles with types. */
export function checkReply(reply: unknown, tool: AnyTool): { status: TaskStatus; data: JsonObject } {
  if (isObject(reply) && isTaskStatus(reply.status) && Object.hasOwn(tool.arms, reply.status) && isObject(reply.data)) {
    return { status: reply.status, data: reply.data };
  }
  throw new TypeError(
    `the handler of ${tool.name} must answer {status, data} with status one of ${Object.keys(tool.arms).join(", ")}`,
  );
}
