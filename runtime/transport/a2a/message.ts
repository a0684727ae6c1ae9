/** A message to an agent: the one invocation in it, run. */
import { RequestMalformedError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { resolveBody } from "../../signing/index.js";
import type { AgentTask, AnswererDependencies, Identity } from "../answerer.js";
import type { ShownTask } from "./task.js";

/** The one invocation of a body: what the gate was asked about is what is run. */
const invocationIn = (body: unknown) => resolveBody(body, "", "json-rpc");

/** The skills a body calls. */
export function skillsIn(body: unknown): string[] {
  const resolved = invocationIn(body);
  return resolved.ok && resolved.invocation !== null ? [resolved.invocation.operation] : [];
}

export interface Sent {
  readonly body: JsonObject;
  readonly identity: Identity;
  /** The protocol's own profile of A2A is spoken. */
  readonly profiled: boolean;
  own(id: string): Promise<AgentTask>;
}

/** Skills named in a refusal; a card has them all. */
const MOST_SKILLS = 24;

/** Said to whoever sends what is no invocation, people's words above all: enough to do it right. */
function howTo(detail: string, { tools }: AnswererDependencies): string {
  const names = tools.slice(0, MOST_SKILLS).map(({ name }) => name);
  const more = tools.length > names.length ? ", and more in the agent card" : "";
  return (
    `Nothing was done: ${detail}. Text is not read here. Send one message with one data part, ` +
    `{"data": {"skill": "<name>", "input": {<arguments>}}}, where the name is one of ${names.join(", ")}${more}.`
  );
}

/**
 * A message that names a task goes on with it where it is of the operation that the message calls; whether it waits for somebody is
 * for the call to find. A call of another operation is one of its own, and nothing of the task is changed: clients name the task that
 * was open last in whatever they send next, the official Python one among them.
 */
const goesOn = ({ tool }: AgentTask, operation: string): boolean => tool === operation;

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= 255 ? value : undefined;

/** Runs what a message calls. @throws what A2A says of a message that calls nothing, or goes on with what it may not */
export async function runMessage(
  parts: AnswererDependencies,
  { body, identity, profiled, own }: Sent,
): Promise<ShownTask> {
  const resolved = invocationIn(body);
  if (!resolved.ok || resolved.invocation === null) {
    throw new RequestMalformedError(howTo(resolved.ok ? "the method calls nothing" : resolved.detail, parts));
  }
  const params = isJsonObject(body.params) ? body.params : {};
  const message = isJsonObject(params.message) ? params.message : {};
  const contextId = textOf(message.contextId) ?? textOf(message.context_id) ?? parts.uuid();
  const { operation, input } = resolved.invocation;
  const continued = message.taskId ?? message.task_id ?? "";
  if (typeof continued !== "string") throw new RequestMalformedError("the task of a message is named by a text");
  const continues = continued !== "" && goesOn(await own(continued), operation) ? continued : undefined;
  const configuration = isJsonObject(params.configuration) ? params.configuration : {};
  const native = configuration.taskPushNotificationConfig ?? configuration.task_push_notification_config;
  const { status, payload, failed, taskId, unfit } = await parts.answer({
    tool: operation,
    args: input,
    transport: "a2a",
    identity,
    contextId,
    push: configuration.pushNotificationConfig ?? configuration.push_notification_config,
    a2aPush: native,
    ...(continues !== undefined && { continues }),
  });
  if (unfit !== undefined) throw new UnsupportedOperationError(unfit);
  // The profile's tasks are over when the call is: what goes on is told by the answer itself.
  // So they are where the seller has declined, which is an answer.
  const shown = (profiled || status === "rejected") && !failed ? "completed" : status;
  return { id: taskId, contextId, status: shown, data: payload, updatedAt: parts.now() };
}
