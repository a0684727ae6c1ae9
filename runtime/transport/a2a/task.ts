/** Tasks as A2A shows them, of both generations. */
import { type Task, Task as TaskMessage, type TaskState, taskStateToJSON } from "@a2a-js/sdk";
import { isTaskStatus, isTerminal, type JsonObject, type TaskStatus } from "../../contract/index.js";
import type { AgentTask } from "../answerer.js";

export type ShownTask = Omit<AgentTask, "tool">;

const stateName = (status: TaskStatus): string => `TASK_STATE_${status.toUpperCase().replaceAll("-", "_")}`;

/** Undefined for a state that the protocol's tasks do not have. */
export function statusOfState(state: TaskState): TaskStatus | undefined {
  const name = taskStateToJSON(state)
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
  return isTaskStatus(name) ? name : undefined;
}

/** docs/protocol/transports.md#a2a-tasks: what is final is an artifact, what is not is a message of the status. */
export function a2aTask({ id, contextId, status, data, updatedAt }: ShownTask): Task {
  const over = isTerminal(status);
  return TaskMessage.fromJSON({
    id,
    contextId,
    status: {
      state: stateName(status),
      timestamp: new Date(updatedAt).toISOString(),
      ...(!over && { message: messageOf({ id, contextId, status, data }) }),
    },
    artifacts: over ? [artifactOf(id, data)] : [],
  });
}

const partsOf = (data: JsonObject) => [{ data, mediaType: "application/json" }];

const messageOf = ({ id, contextId, status, data }: Omit<ShownTask, "updatedAt">): JsonObject => ({
  ...{ messageId: `${id}-${status}`, contextId, taskId: id, role: "ROLE_AGENT", parts: partsOf(data) },
});

const artifactOf = (id: string, data: JsonObject): JsonObject => ({
  ...{ artifactId: `${id}-result`, name: "result", parts: partsOf(data) },
});
