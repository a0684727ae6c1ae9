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
import { isTerminal, type JsonObject, type TaskStatus } from "../contract/index.js";
import type { A2aPushConfig } from "../sender/types.js";
import { resolveBody } from "../signing/index.js";
import type { SellerTaskRow } from "../store/seller-tables.js";
import type { Call, Called } from "./call.js";
import { isObject } from "./json-object.js";
import { ToolError } from "./tool-error.js";
import type { Identity } from "./types.js";

/** One request of an A2A client. */
export interface A2aRequest {
  readonly body: JsonObject;
  readonly identity: Identity;
  /** `A2A-Version`; absent means 0.3. */
  readonly version: string | undefined;
}

export interface A2aParts {
  readonly card: JsonObject;
  readonly uuid: () => string;
  readonly now: () => number;
  answer(call: Call): Promise<Called>;
  /** A task by its id. */
  row(taskId: string): Promise<SellerTaskRow | undefined>;
  /** A task's own A2A registration; absent where webhooks are not sent. */
  readonly push:
    | {
        attach(row: SellerTaskRow, config: A2aPushConfig | null): Promise<void>;
        attached(taskId: string): Promise<A2aPushConfig | undefined>;
      }
    | undefined;
}

export interface A2aEndpoint {
  /** The answer's body. */
  handle(request: A2aRequest): Promise<unknown>;
  /** The skills a body calls. */
  skillsOf(body: unknown): readonly string[];
}

/** Keys of what travels through the SDK's call context. */
const STATE = { identity: "identity", body: "body" } as const;

export function a2aEndpoint(parts: A2aParts): A2aEndpoint {
  const handler = requestHandler(parts);
  const current = new JsonRpcTransportHandler(handler);
  const legacy = new LegacyJsonRpcTransportHandler(handler);
  return {
    skillsOf: skillsIn,
    handle({ body, identity, version }) {
      const state = new Map<string, unknown>([
        [STATE.identity, identity],
        [STATE.body, body],
      ]);
      // 0.3 names its methods with a slash; a client that leaves the version out is taken by its method.
      const old = typeof body.method === "string" && body.method.includes("/");
      const context = new ServerCallContext({ state, requestedVersion: version ?? (old ? "0.3" : "1.0") });
      return (old ? legacy : current).handle(body, context);
    },
  };
}

/** The one invocation of a body: what the gate was asked about is what is run. */
const invocationIn = (body: unknown) => resolveBody(body, "", "json-rpc");

function skillsIn(body: unknown): string[] {
  const resolved = invocationIn(body);
  return resolved.ok && resolved.invocation !== null ? [resolved.invocation.operation] : [];
}

function requestHandler(parts: A2aParts): A2ARequestHandler {
  const refuse = async (): Promise<never> => {
    throw new UnsupportedOperationError("not offered here");
  };
  const own = async (id: string, context: ServerCallContext): Promise<SellerTaskRow> => {
    const row = await parts.row(id);
    const { principal } = context.state.get(STATE.identity) as Identity;
    if (row === undefined || row.principal !== principal) throw new TaskNotFoundError(`there is no task ${id}`);
    return row;
  };
  const card = parts.card as unknown as AgentCard;
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
    getTask: async ({ id }: { id: string }, context: ServerCallContext) => storedTask(await own(id, context)),
    async cancelTask({ id }: { id: string }, context: ServerCallContext) {
      await own(id, context);
      throw new TaskNotCancelableError("cancel what the task makes with the tool that changes it");
    },
    listTasks: refuse,
    ...pushMethods(parts, own),
  };
  return handler;
}

type OwnTask = (id: string, context: ServerCallContext) => Promise<SellerTaskRow>;

/** A2A's native push notifications: one registration a task, whose events have A2A's shape (service.md, "Task operations"). */
function pushMethods({ push }: A2aParts, own: OwnTask) {
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
      const row = await own(config.taskId, context);
      await offered()
        .attach(row, nativeConfig(config))
        .catch((error: unknown) => {
          if (error instanceof ToolError) throw new RequestMalformedError(error.message);
          throw error;
        });
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

const nativeConfig = ({ url, id, token, authentication }: TaskPushNotificationConfig): A2aPushConfig => ({
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
function checkContinued(row: SellerTaskRow, operation: string): void {
  if (row.tool !== operation) throw new RequestMalformedError(`task ${row.task_id} is not one of ${operation}`);
  if (row.status !== "input-required")
    throw new UnsupportedOperationError(`task ${row.task_id} is ${row.status} and waits for no message`);
}

async function sendMessage(parts: A2aParts, own: OwnTask, context: ServerCallContext): Promise<Task> {
  const body = context.state.get(STATE.body) as JsonObject;
  const identity = context.state.get(STATE.identity) as Identity;
  const params = isObject(body.params) ? body.params : {};
  const message = isObject(params.message) ? params.message : {};
  const contextId = textOf(message.contextId) ?? textOf(message.context_id) ?? parts.uuid();
  const resolved = invocationIn(body);
  if (!resolved.ok || resolved.invocation === null)
    throw new RequestMalformedError(resolved.ok ? "the method calls nothing" : resolved.detail);
  const { operation, input } = resolved.invocation;
  const continued = message.taskId ?? message.task_id ?? "";
  if (typeof continued !== "string") throw new RequestMalformedError("the task of a message is named by a text");
  if (continued !== "") checkContinued(await own(continued, context), operation);
  const configuration = isObject(params.configuration) ? params.configuration : {};
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
  return taskOf({ id: taskId, contextId, status, data: payload, at: parts.now() });
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= 255 ? value : undefined;

function storedTask(row: SellerTaskRow): Task {
  const text = row.result ?? row.progress;
  const data = text === null ? {} : (JSON.parse(text) as JsonObject);
  const context = row.context === null ? {} : { context: JSON.parse(row.context) };
  const status = row.status as TaskStatus;
  const shown = isTerminal(status) ? { ...data, ...context } : { status, task_id: row.task_id, ...data, ...context };
  return taskOf({
    id: row.task_id,
    contextId: row.context_id ?? row.task_id,
    status,
    data: shown,
    at: row.updated_at,
  });
}

/** webhooks-facts.md 7: what is final is an artifact, what is not is a message of the status. */
function taskOf(of: { id: string; contextId: string; status: TaskStatus; data: JsonObject; at: number }): Task {
  const { id, contextId, status, data, at } = of;
  const parts = [{ data, mediaType: "application/json" }];
  const over = isTerminal(status);
  const message = { messageId: `${id}-${status}`, contextId, taskId: id, role: "ROLE_AGENT", parts };
  return Task.fromJSON({
    id,
    contextId,
    status: {
      state: `TASK_STATE_${status.toUpperCase().replaceAll("-", "_")}`,
      timestamp: new Date(at).toISOString(),
      ...(!over && { message }),
    },
    artifacts: over ? [{ artifactId: `${id}-result`, name: "result", parts }] : [],
  });
}
