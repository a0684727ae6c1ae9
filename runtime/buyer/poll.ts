/** What an agent says of a task when it is asked: by its transport's own means, and by the tool of its release. */
import {
  type Answer,
  type AnyArms,
  type AnyTool,
  type Failure,
  isTaskStatus,
  isTerminal,
  type JsonObject,
  type ProtocolError,
  type Release,
  readWebhookAnswer,
} from "../contract/index.js";
import { retryAfterSeconds } from "../extract/index.js";
import { isJsonObject, list, member } from "../extract/json-object.js";
import { stubTool } from "../facts/stub-tool.js";
import type { BuyerCallDependencies } from "./call-dependencies.js";
import { type ExchangeResult, firstError } from "./exchange.js";
import { type PinBy, pinOf } from "./pin.js";
import type { TaskPoll } from "./webhooks.js";

/** Names of the tool that tells of a task, over the releases. */
const pollTools = ["get_task_status", "tasks/get", "tasks_get"] as const;

export interface PolledCall {
  readonly tool: AnyTool;
  readonly release: Release;
  readonly pinBy: PinBy;
  readonly taskId: string;
  /** The request's `account`: a task belongs to one. */
  readonly account: unknown;
  readonly signal: AbortSignal | undefined;
}

export type Polled =
  | {
      readonly kind: "task";
      readonly task: TaskPoll;
      readonly answer: Answer<AnyArms>;
      /** When it says that the task will have ended, unix milliseconds. */
      readonly expected: number | undefined;
    }
  /** Try again later. */
  | { readonly kind: "failed"; readonly error: ProtocolError | undefined; readonly afterMs: number | undefined }
  /** The agent has no way to ask, or will not say. */
  | { readonly kind: "refused"; readonly error: ProtocolError | undefined };

/** Members by which answers say when their task may have ended: estimates, all of them. */
const estimates = ["expected_confirmation_at", "estimated_completion"] as const;

/** @returns unix milliseconds */
export function estimateIn(data: unknown): number | undefined {
  for (const name of estimates) {
    const value = member(data, name);
    const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
    if (!Number.isNaN(at)) return at;
  }
  return undefined;
}

/** Asks for a task. Never rejects but with the signal's reason. */
export const poll = (dependencies: BuyerCallDependencies, of: PolledCall): Promise<Polled> =>
  pollIn(dependencies, of, false);

/** @param moved its agent has let the call's own release go since, and is asked in the one it has now */
async function pollIn(dependencies: BuyerCallDependencies, of: PolledCall, moved: boolean): Promise<Polled> {
  const native = await dependencies.exchange.task(of.tool, of.release, of.taskId, of.signal).catch(() => undefined);
  of.signal?.throwIfAborted();
  const own = native === undefined ? undefined : nativeTask(native);
  // A transport's task may have ended with the word that the work goes on: only the tool knows then.
  if (own?.kind === "task" && isTerminal(own.task.status)) return own;
  let error: ProtocolError | undefined;
  for (const name of namesFor(of.release)) {
    const outcome = await ask(dependencies, of, name);
    const found = readTask(of, outcome);
    if (found !== undefined) return found;
    const spoken = moved ? undefined : await spokenNow(dependencies, of, outcome);
    if (spoken !== undefined && "kind" in spoken) return spoken;
    if (spoken !== undefined) return pollIn(dependencies, { ...of, ...spoken }, true);
    // Of several refusals the one that says most: some agents have a tool under one of the names, and refuse all the same.
    const told = firstError(outcome);
    if (error === undefined || (isLacking(error) && told !== undefined)) error = told;
    // An answer that says nothing is a tool that is not there, as some agents put it.
    if (outcome.recovery === "transient" || (outcome.lost && outcome.recovery !== "correctable")) {
      const seconds = error === undefined ? undefined : retryAfterSeconds(error);
      return { kind: "failed", error, afterMs: seconds === undefined ? undefined : seconds * 1_000 };
    }
  }
  return own ?? { kind: "refused", error };
}

/**
 * What the agent speaks since it refuses the release of the call; undefined where it refuses something else. One that does not say
 * with its refusal is asked: what was agreed with it is no longer true.
 */
async function spokenNow(
  { negotiation }: BuyerCallDependencies,
  { release, signal }: PolledCall,
  outcome: ExchangeResult,
): Promise<Pick<PolledCall, "release" | "pinBy"> | Extract<Polled, { kind: "failed" }> | undefined> {
  if (firstError(outcome)?.code !== "VERSION_UNSUPPORTED") return undefined;
  if (!negotiation.revise(outcome.payload) && negotiation.known()?.release === release) negotiation.expire();
  const now = await negotiation.get(signal);
  if (!now.ok) {
    if (now.failure.recovery !== "transient") return undefined;
    return { kind: "failed", error: firstError(now.failure), afterMs: undefined };
  }
  if (now.pinned.release === release) return undefined;
  return { release: now.pinned.release, pinBy: now.pinned.pinBy };
}

/** The release's own name first; the others are aliases that not every agent has. */
const namesFor = ({ facts, tools }: Release): readonly string[] => {
  const own = facts.tools.task?.value ?? pollTools.find((name) => Object.hasOwn(tools, name));
  return [...new Set([...(own === undefined ? [] : [own]), ...pollTools])];
};

function ask(dependencies: BuyerCallDependencies, of: PolledCall, name: string): Promise<ExchangeResult> {
  const { release, account, signal, taskId } = of;
  const args = {
    ...pinOf(release, name, of.pinBy),
    task_id: taskId,
    // The older tool has no result of its own: the last thing that the agent said is it.
    ...(name === "get_task_status" ? { include_result: true } : { include_result: true, include_history: true }),
    ...(isJsonObject(account) && { account }),
  };
  const tool = Object.hasOwn(release.tools, name) ? release.tools[name]! : stubTool(name);
  return dependencies.exchange.send(tool, release, { args, push: undefined, contextId: undefined, signal });
}

/** There is no tool to ask with: asking again changes nothing. */
export const isLacking = (error: ProtocolError | undefined): boolean =>
  error === undefined || error.code === "UNSUPPORTED_FEATURE" || error.code === "UNNAMED_ERROR";

/** A task by A2A's own means; undefined where the agent keeps none under this id, or its tool's task has another. */
function nativeTask(outcome: ExchangeResult): Polled | undefined {
  const { status } = outcome.answer;
  // Most agents have no data for what they are at: that it is under way is all there is to say.
  if (outcome.payload === null && (status === "submitted" || status === "working"))
    return { kind: "task", task: { status }, answer: outcome.answer, expected: undefined };
  const failedHere = status === "failed" && (outcome.answer.data as Failure).raw === undefined;
  if (failedHere || outcome.payload === null) return undefined;
  return {
    kind: "task",
    task: { status, result: outcome.payload },
    answer: outcome.answer,
    expected: estimateIn(outcome.payload),
  };
}

/** What the tool says of a task; undefined when it says nothing (docs/protocol/tasks.md#statuses). */
function readTask({ tool, release, taskId }: PolledCall, { payload }: ExchangeResult): Polled | undefined {
  if (!isJsonObject(payload) || payload.task_id !== taskId) return undefined;
  // Published enumerations have two statuses more: one asks for something, the other decides nothing.
  const status = payload.status === "auth-required" ? "input-required" : payload.status;
  // So does one that a newer release has: the task is there, and may come to an end that is known.
  if (!isTaskStatus(status))
    return typeof status === "string" ? { kind: "failed", error: undefined, afterMs: undefined } : undefined;
  const result = resultOf(payload);
  const { updated_at: updated, message, context_id } = payload;
  const changed = typeof updated === "string" ? { timestamp: updated } : {};
  const words = typeof message === "string" ? { message } : {};
  const thread = typeof context_id === "string" ? { context_id } : {};
  const envelope = { status, task_id: taskId, result: result ?? {}, ...words, ...thread };
  return {
    kind: "task",
    task: { status, ...changed, ...(result !== undefined && { result }), ...words },
    answer: readWebhookAnswer(tool, envelope, release.word) as Answer<AnyArms>,
    expected: estimateIn(payload) ?? estimateIn(result),
  };
}

/** What a task has come to, as far as the payload tells: its result, its error, its progress, or what was said last of it. */
function resultOf(payload: JsonObject): JsonObject | undefined {
  if (isJsonObject(payload.result)) return payload.result;
  if (isJsonObject(payload.error)) return { errors: [payload.error] } as JsonObject;
  if (isJsonObject(payload.progress)) return payload.progress;
  const said = list(payload.history).findLast((one) => member(one, "type") === "response");
  const data = member(said, "data");
  return isJsonObject(data) ? data : undefined;
}
