/** The methods of A2A, over the calls and tasks of an agent. */
import type { AgentCard, CancelTaskRequest, ListTasksRequest } from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotCancelableError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import type { JsonObject } from "../../contract/index.js";
import type { AgentTask, AnswererDependencies, Identity } from "../answerer.js";
import { runMessage } from "./message.js";
import { pushMethods } from "./push.js";
import { createStreams } from "./stream.js";
import { a2aTask, statusOfState } from "./task.js";

/** Keys of what travels through the SDK's call context. */
export const STATE = { identity: "identity", body: "body", profiled: "profiled" } as const;

const PAGE = { default: 50, max: 100 } as const;

const identityIn = ({ state }: ServerCallContext): Identity => state.get(STATE.identity) as Identity;

export function requestHandler(parts: AnswererDependencies, published: JsonObject): A2ARequestHandler {
  const { tasks } = parts;
  const own = async (id: string, context: ServerCallContext): Promise<AgentTask> => {
    const task = await tasks.find(id, identityIn(context));
    if (task === undefined) throw new TaskNotFoundError(`there is no task ${id.slice(0, 64)}`);
    return task;
  };
  const send = (context: ServerCallContext) =>
    runMessage(parts, {
      body: context.state.get(STATE.body) as JsonObject,
      identity: identityIn(context),
      profiled: context.state.get(STATE.profiled) === true,
      own: (id) => own(id, context),
    });
  const card = published as unknown as AgentCard;
  const streams = createStreams(parts);
  return {
    getAgentCard: async () => card,
    getAuthenticatedExtendedAgentCard: async () => card,
    sendMessage: async (_params, context) => a2aTask(await send(context)),
    async *sendMessageStream(_params, context) {
      yield* streams.follow(await send(context), identityIn(context));
    },
    async *resubscribe({ id }, context) {
      yield* streams.follow(await own(id, context), identityIn(context));
    },
    getTask: async ({ id }, context) => a2aTask(await own(id, context)),
    listTasks: (asked, context) => listTasks(parts, asked, identityIn(context)),
    cancelTask: async ({ id }: CancelTaskRequest, context) => {
      const task = await own(id, context);
      const refused = await tasks.cancel(task);
      if (refused !== undefined) throw new TaskNotCancelableError(`task ${task.id} cannot be canceled: ${refused}`);
      return a2aTask(await own(id, context));
    },
    ...pushMethods(tasks, own),
  };
}

async function listTasks({ tasks }: AnswererDependencies, asked: ListTasksRequest, caller: Identity) {
  const { contextId, status, pageSize = PAGE.default, pageToken, statusTimestampAfter, includeArtifacts } = asked;
  const since = statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter);
  if (Number.isNaN(since)) throw new RequestMalformedError("statusTimestampAfter is no time");
  const limit = Math.min(Math.max(1, pageSize), PAGE.max);
  const wanted = status === 0 ? undefined : statusOfState(status);
  // A state that no task here ever has.
  if (status !== 0 && wanted === undefined) return { tasks: [], nextPageToken: "", pageSize: limit, totalSize: 0 };
  const page = await tasks.list(caller, {
    limit,
    ...(pageToken !== "" && { token: pageToken }),
    ...(contextId !== "" && { contextId }),
    ...(wanted !== undefined && { status: wanted }),
    ...(since !== undefined && { since }),
  });
  if (page === undefined) throw new RequestMalformedError("pageToken is none given here");
  return {
    tasks: page.tasks.map((task) => ({ ...a2aTask(task), ...(includeArtifacts !== true && { artifacts: [] }) })),
    nextPageToken: page.next ?? "",
    pageSize: limit,
    totalSize: page.total,
  };
}
