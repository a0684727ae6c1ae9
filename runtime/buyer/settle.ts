/** A task to its end: webhooks and polling in one wait (service.md, "Dedup rules (receiver)", 7). */
import {
  type Answer,
  type AnyArms,
  type AnyTool,
  type Failure,
  isTaskStatus,
  isTerminal,
  type JsonObject,
  type Release,
  readWebhookAnswer,
} from "../contract/index.js";
import { isJsonObject, member } from "../extract/json-object.js";
import { readingTool } from "./agreement.js";
import type { CallParts } from "./call.js";
import type { Outcome } from "./exchange.js";
import type { PolledTask, SettleOptions } from "./types.js";

/** Longest pause while polls fail, in milliseconds: half an hour. */
const MAX_PAUSE_MS = 1_800_000;
/** Names of the tool that tells of a task, over the releases. */
const pollTools = ["get_task_status", "tasks_get", "tasks/get"] as const;
/** Events read at once when a webhook's data is looked for. */
const INBOX_PAGE = 200;

export interface Settling {
  readonly tool: AnyTool;
  readonly release: Release;
  readonly answer: Answer<AnyArms>;
  readonly taskId: string | undefined;
  readonly operationId: string | undefined;
  /** The request's `account`: a task belongs to one. */
  readonly account: unknown;
  readonly options: SettleOptions;
}

type Polled =
  | { readonly kind: "task"; readonly task: PolledTask; readonly answer: Answer<AnyArms> }
  /** Try again later. */
  | { readonly kind: "failed" }
  /** The agent has no way to ask. */
  | { readonly kind: "unsupported" };

export async function settle(parts: CallParts, of: Settling): Promise<Answer<AnyArms>> {
  const { answer, taskId, operationId } = of;
  const { status } = answer;
  if (isTerminal(status) || taskId === undefined) return answer;
  const { webhooks } = parts.settings;
  if (webhooks === undefined || operationId === undefined) return pollAlone(parts, { ...of, taskId });
  let last: Answer<AnyArms> | undefined;
  const ended = await webhooks.receiver.watchTask({
    ...{ sender: webhooks.sender, taskId, taskType: of.tool.name, operationId, webhooks: true },
    ...(of.options.signal !== undefined && { signal: of.options.signal }),
    poll: async () => {
      const polled = await poll(parts, { ...of, taskId });
      if (polled.kind !== "task") throw new Error(`the poll ${polled.kind}`);
      if (isTerminal(polled.task.status)) last = polled.answer;
      return polled.task;
    },
  });
  of.options.signal?.throwIfAborted();
  if (last !== undefined) return last;
  if (ended === null) return answer;
  // A webhook was first. Its data has gone to the receiver's handler: the state is read, as after a missed one.
  return (await readEnd(parts, { ...of, taskId })) ?? answer;
}

type WithTask = Settling & { readonly taskId: string };

async function readEnd(parts: CallParts, of: WithTask): Promise<Answer<AnyArms> | undefined> {
  const heard = fromHandlers(parts, of);
  if (heard !== undefined) return heard;
  const polled = await poll(parts, of);
  if (polled.kind === "task" && isTerminal(polled.task.status)) return polled.answer;
  // Its handler may have run meanwhile, and the inbox have let it go.
  return (await fromInbox(parts, of)) ?? fromHandlers(parts, of);
}

function fromHandlers({ settings }: CallParts, of: WithTask): Answer<AnyArms> | undefined {
  const { endings, sender } = settings.webhooks!;
  return endedBy(of, endings?.find(sender, of.taskId));
}

/** A webhook's envelope as the end of a task; undefined where it is none. */
function endedBy(of: WithTask, envelope: unknown): Answer<AnyArms> | undefined {
  const status = member(envelope, "status");
  if (!isJsonObject(envelope) || !isTaskStatus(status) || !isTerminal(status)) return undefined;
  return readWebhookAnswer(of.tool, { ...envelope, status }, of.release.word) as Answer<AnyArms>;
}

/** The webhook itself, while the receiver still holds it. */
async function fromInbox({ settings }: CallParts, of: WithTask): Promise<Answer<AnyArms> | undefined> {
  const { receiver, sender } = settings.webhooks!;
  let after = 0;
  for (;;) {
    const events = await receiver.store.inbox.list({ sender, limit: INBOX_PAGE, after });
    for (const { taskId, body } of events) {
      if (taskId !== of.taskId) continue;
      const ended = endedBy(of, JSON.parse(new TextDecoder().decode(body)));
      if (ended !== undefined) return ended;
    }
    if (events.length < INBOX_PAGE) return undefined;
    after = events.at(-1)!.id;
  }
}

async function pollAlone(parts: CallParts, of: WithTask): Promise<Answer<AnyArms>> {
  const { pollMs, giveUpMs, now, pause, logger } = parts.settings;
  const { signal } = of.options;
  const until = now() + giveUpMs;
  for (let wait = pollMs; now() + wait <= until; ) {
    await pause(wait, signal);
    signal?.throwIfAborted();
    const polled = await poll(parts, of);
    if (polled.kind === "unsupported") return of.answer;
    if (polled.kind === "task" && isTerminal(polled.task.status)) return polled.answer;
    wait = polled.kind === "failed" ? Math.min(wait * 2, MAX_PAUSE_MS) : pollMs;
  }
  logger?.warn({ tool: of.tool.name, taskId: of.taskId }, "a task did not end in time");
  return of.answer;
}

async function poll(parts: CallParts, of: WithTask): Promise<Polled> {
  const native = await parts.exchange.task(of.tool, of.release, of.taskId, of.options.signal).catch(() => undefined);
  const own = native === undefined ? undefined : nativeTask(native, parts.settings.now());
  // A transport's task may have ended with the word that the work goes on: only the tool knows then.
  if (own?.kind === "task" && isTerminal(own.task.status)) return own;
  const { release } = of;
  const names = [...pollTools].sort(
    (a, b) => Number(Object.hasOwn(release.tools, b)) - Number(Object.hasOwn(release.tools, a)),
  );
  for (const name of names) {
    const args = {
      task_id: of.taskId,
      include_result: true,
      ...(isJsonObject(of.account) && { account: of.account }),
    };
    const tool = release.tools[name] ?? readingTool(name);
    const call = { args, push: undefined, contextId: undefined, signal: of.options.signal };
    const outcome = await parts.exchange.send(tool, release, call);
    const found = readTask(of, outcome, parts.settings.now());
    if (found !== undefined) return found;
    if (outcome.lost || outcome.recovery === "transient") return { kind: "failed" };
  }
  return own ?? { kind: "unsupported" };
}

/** A task by A2A's own means; undefined where the agent keeps none under this id, or its tool's task has another. */
function nativeTask(outcome: Outcome, now: number): Polled | undefined {
  const { status } = outcome.answer;
  const failedHere = status === "failed" && (outcome.answer.data as Failure).raw === undefined;
  if (failedHere || outcome.payload === null) return undefined;
  const timestamp = new Date(now).toISOString();
  return { kind: "task", task: { status, timestamp, result: outcome.payload }, answer: outcome.answer };
}

/** What `get_task_status` says of a task; undefined when it says nothing. */
function readTask({ tool, release, taskId }: WithTask, { payload }: Outcome, now: number): Polled | undefined {
  const status = member(payload, "status");
  if (!isJsonObject(payload) || member(payload, "task_id") !== taskId || !isTaskStatus(status)) return undefined;
  const error = member(payload, "error");
  const result = isJsonObject(payload.result)
    ? payload.result
    : isJsonObject(error)
      ? ({ errors: [error] } as JsonObject)
      : (progressOf(payload) ?? {});
  const { updated_at: updated, message } = payload;
  const timestamp = typeof updated === "string" ? updated : new Date(now).toISOString();
  const words = typeof message === "string" ? { message } : {};
  const envelope = { status, task_id: taskId, result, ...words };
  return {
    kind: "task",
    task: { status, timestamp, result, ...words },
    answer: readWebhookAnswer(tool, envelope, release.word) as Answer<AnyArms>,
  };
}

const progressOf = (payload: JsonObject): JsonObject | undefined =>
  isJsonObject(payload.progress) ? payload.progress : undefined;
