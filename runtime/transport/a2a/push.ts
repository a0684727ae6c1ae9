/**
 * A2A's native push notifications: one registration a task, whose events have A2A's shape
 * (docs/protocol/transports.md#registration-channel).
 */
import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { PushNotificationNotSupportedError, RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import type { AgentTask, AnswererDependencies, NativePush } from "../answerer.js";

/** A task of the caller's. @throws TaskNotFoundError */
export type FindOwnTask = (id: string, context: ServerCallContext) => Promise<AgentTask>;

type PushMethod =
  | "createTaskPushNotificationConfig"
  | "getTaskPushNotificationConfig"
  | "listTaskPushNotificationConfigs"
  | "deleteTaskPushNotificationConfig";

export function pushMethods(
  { push }: AnswererDependencies["tasks"],
  own: FindOwnTask,
): Pick<A2ARequestHandler, PushMethod> {
  const offered = () => {
    if (push === undefined) throw new PushNotificationNotSupportedError("webhooks are not sent here");
    return push;
  };
  const configOf = async (taskId: string): Promise<TaskPushNotificationConfig | undefined> => {
    const config = await offered().attached(taskId);
    if (config === undefined) return undefined;
    // What authenticates towards the receiver is not shown again.
    const { url, id = taskId, token = "" } = config;
    return { tenant: "", id, taskId, url, token, authentication: undefined };
  };
  return {
    async createTaskPushNotificationConfig(config: TaskPushNotificationConfig, context: ServerCallContext) {
      const task = await own(config.taskId, context);
      const refused = await offered().attach(task, nativeConfig(config));
      if (refused !== undefined) throw new RequestMalformedError(refused);
      return config;
    },
    async getTaskPushNotificationConfig({ taskId }: { taskId: string }, context: ServerCallContext) {
      await own(taskId, context);
      const config = await configOf(taskId);
      if (config === undefined) throw new TaskNotFoundError(`task ${taskId} has no registration`);
      return config;
    },
    async listTaskPushNotificationConfigs({ taskId }: { taskId: string }, context: ServerCallContext) {
      await own(taskId, context);
      const config = await configOf(taskId);
      return { configs: config === undefined ? [] : [config], nextPageToken: "" };
    },
    async deleteTaskPushNotificationConfig({ taskId }: { taskId: string }, context: ServerCallContext) {
      await offered().attach(await own(taskId, context), null);
    },
  };
}

const nativeConfig = ({ url, id, token, authentication }: TaskPushNotificationConfig): NativePush => ({
  url,
  ...(id !== "" && { id }),
  ...(token !== "" && { token }),
  ...(authentication !== undefined && {
    authentication: { schemes: [authentication.scheme], credentials: authentication.credentials },
  }),
});
