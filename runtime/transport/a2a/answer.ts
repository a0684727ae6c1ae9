/** A2A: the official SDK's JSON-RPC handlers, 1.0 and 0.3, over the same calls and tasks as MCP. */

import type { AgentCard } from "@a2a-js/sdk";
import { Task, type TaskPushNotificationConfig } from "@a2a-js/sdk";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { isJsonObject, isTerminal, type JsonObject } from "../../contract/index.js";
import { resolveBody } from "../../signing/index.js";
import type { AgentTask, Answerer, AnswererDependencies, Identity, NativePush } from "../answerer.js";
import { agentCard, CARD_PATHS } from "./card.js";

/** Keys of what travels through the SDK's call context. */
const STATE = { identity: "identity", body: "body" } as const;

export function a2aAnswerer(parts: AnswererDependencies): Answerer {
  const card = agentCard(parts);
  const handler = requestHandler(parts, card);
  const current = new JsonRpcTransportHandler(handler);
  const legacy = new LegacyJsonRpcTransportHandler(handler);
  return {
    published: Object.fromEntries(CARD_PATHS.map((path) => [path, card])),
    asks(body) {
      const tools = skillsIn(body);
      // What is no skill's call reads or changes tasks, which are their caller's only.
      return { tools, beside: tools.length > 0 ? "nothing" : "own" };
    },
    fault: (body) => (isJsonObject(body) ? undefined : "A2A takes one JSON-RPC request at a time."),
    async handle({ body: given, identity, header }) {
      const body = given as JsonObject;
      const state = new Map<string, unknown>([
        [STATE.identity, identity],
        [STATE.body, body],
      ]);
      // 0.3 names its methods with a slash; a client that leaves the version out is taken by its method.
      const old = typeof body.method === "string" && body.method.includes("/");
      const requestedVersion = header("a2a-version") ?? (old ? "0.3" : "1.0");
      const context = new ServerCallContext({ state, requestedVersion });
      const answer = await (old ? legacy : current).handle(body, context);
      return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(answer) };
    },
  };
}

/** The one invocation of a body: what the gate was asked about is what is run. */
const invocationIn = (body: unknown) => resolveBody(body, "", "json-rpc");

function skillsIn(body: unknown): string[] {
  const resolved = invocationIn(body);
  return resolved.ok && resolved.invocation !== null ? [resolved.invocation.operation] : [];
}

function requestHandler(parts: AnswererDependencies, agentCard: JsonObject): A2ARequestHandler {
  const refuse = async (): Promise<never> => {
    throw new UnsupportedOperationError("not offered here");
  };
  const own = async (id: string, context: ServerCallContext): Promise<AgentTask> => {
    const task = await parts.tasks.find(id, context.state.get(STATE.identity) as Identity);
    if (task === undefined) throw new TaskNotFoundError(`there is no task ${id}`);
    return task;
  };
  const card = agentCard as unknown as AgentCard;
  const handler = {
    getAgentCard: async () => card,
    getAuthenticatedExtendedAgentCard: async () => card,
    sendMessage: (_params: unknown, context: ServerCallContext) => sendMessage(parts, own, context),
    // biome-ignore lint/correctness/useYield: the interface asks for a generator, and streams are not offered
    async *sendMessageStream() {
      throw new UnsupportedOperationError("streaming is not offered here");
    },
    // biome-ignore lint/correctness/useYield: as above
    async *resubscribe() {
      throw new UnsupportedOperationError("streaming is not offered here");
    },
    getTask: async ({ id }: { id: string }, context: ServerCallContext) => taskOf(await own(id, context)),
    async cancelTask({ id }: { id: string }, context: ServerCallContext) {
      await own(id, context);
      throw new TaskNotCancelableError("cancel what the task makes with the tool that changes it");
    },
    listTasks: refuse,
    ...pushMethods(parts.tasks, own),
  };
  return handler;
}

type OwnTask = (id: string, context: ServerCallContext) => Promise<AgentTask>;

/** A2A's native push notifications: one registration a task, whose events have A2A's shape (service.md, "Task operations"). */
function pushMethods({ push }: AnswererDependencies["tasks"], own: OwnTask) {
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

/**
 * A message that names a task goes on with it: it must be the caller's own, of the operation the message calls, and waiting for
 * somebody. The gate has judged the operation; a task of another one would be changed unjudged.
 */
function checkContinued({ id, tool, status }: AgentTask, operation: string): void {
  if (tool !== operation) throw new RequestMalformedError(`task ${id} is not one of ${operation}`);
  if (status !== "input-required")
    throw new UnsupportedOperationError(`task ${id} is ${status} and waits for no message`);
}

async function sendMessage(parts: AnswererDependencies, own: OwnTask, context: ServerCallContext): Promise<Task> {
  const body = context.state.get(STATE.body) as JsonObject;
  const identity = context.state.get(STATE.identity) as Identity;
  const params = isJsonObject(body.params) ? body.params : {};
  const message = isJsonObject(params.message) ? params.message : {};
  const contextId = textOf(message.contextId) ?? textOf(message.context_id) ?? parts.uuid();
  const resolved = invocationIn(body);
  if (!resolved.ok || resolved.invocation === null)
    throw new RequestMalformedError(resolved.ok ? "the method calls nothing" : resolved.detail);
  const { operation, input } = resolved.invocation;
  const continued = message.taskId ?? message.task_id ?? "";
  if (typeof continued !== "string") throw new RequestMalformedError("the task of a message is named by a text");
  if (continued !== "") checkContinued(await own(continued, context), operation);
  const configuration = isJsonObject(params.configuration) ? params.configuration : {};
  const native = configuration.taskPushNotificationConfig ?? configuration.task_push_notification_config;
  const called = await parts.answer({
    tool: operation,
    args: input,
    transport: "a2a",
    identity,
    contextId,
    push: configuration.pushNotificationConfig ?? configuration.push_notification_config,
    a2aPush: native,
  });
  const { status, payload, taskId } = called;
  return taskOf({ id: taskId, contextId, status, data: payload, updatedAt: parts.now() });
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= 255 ? value : undefined;

/** webhooks-facts.md 7: what is final is an artifact, what is not is a message of the status. */
function taskOf(of: Omit<AgentTask, "tool">): Task {
  const { id, contextId, status, data, updatedAt } = of;
  const parts = [{ data, mediaType: "application/json" }];
  const over = isTerminal(status);
  const message = { messageId: `${id}-${status}`, contextId, taskId: id, role: "ROLE_AGENT", parts };
  return Task.fromJSON({
    id,
    contextId,
    status: {
      state: `TASK_STATE_${status.toUpperCase().replaceAll("-", "_")}`,
      timestamp: new Date(updatedAt).toISOString(),
      ...(!over && { message }),
    },
    artifacts: over ? [{ artifactId: `${id}-result`, name: "result", parts }] : [],
  });
}
