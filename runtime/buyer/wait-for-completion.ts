/**
 * A task to its end: webhooks and polling in one wait (docs/protocol/tasks.md#polling). What comes back is an end, or a
 * question; where neither could be learned, a failure made here says so.
 */
import {
  type Answer,
  type AnyArms,
  type Failure,
  isInterim,
  isTaskStatus,
  isTerminal,
  type ProtocolError,
  readWebhookAnswer,
  type TaskStatus,
} from "../contract/index.js";
import { isStorableId } from "../contract/storable-id.js";
import { member } from "../extract/json-object.js";
import { timerMs } from "../timers.js";
import type { BuyerCallDependencies } from "./call-dependencies.js";
import { failedHere } from "./exchange.js";
import { localError } from "./fault.js";
import { estimateIn, isLacking, type Polled, type PolledCall, poll } from "./poll.js";
import { toldEnvelope } from "./told-envelope.js";
import type { CompletionOptions, TaskEnd } from "./types.js";

/** Longest pause while polls fail, or until an agent's own estimate, in milliseconds: half an hour. */
const MAX_PAUSE_MS = 1_800_000;
/** Pause after the first poll, in milliseconds; doubled after each up to the buyer's `pollMs`. */
const FIRST_PAUSE_MS = 500;
/** Refusals in a row after which an agent is believed not to say: some do not know a task at once that they have just made. */
const MAX_REFUSALS = 4;
/** Events of one task read at most when a webhook's data is looked for. */
const INBOX_EVENTS = 50;

export interface AwaitedCall extends Omit<PolledCall, "taskId" | "signal"> {
  readonly answer: Answer<AnyArms>;
  readonly taskId: string | undefined;
  readonly operationId: string | undefined;
  readonly options: CompletionOptions;
}

const TOLD_NONE = "what was told of its end is none";

type WithTask = PolledCall & Pick<AwaitedCall, "answer" | "operationId">;

/** An end, or what the task waits for. */
const stops = (status: TaskStatus): boolean => isTerminal(status) || status === "input-required";
const hasStopped = (answer: Answer<AnyArms>): answer is TaskEnd<AnyArms> => stops(answer.status);

export async function waitForCompletion(
  dependencies: BuyerCallDependencies,
  awaited: AwaitedCall,
): Promise<TaskEnd<AnyArms>> {
  const { answer, taskId, options } = awaited;
  if (hasStopped(answer)) return answer;
  const of = { ...awaited, taskId: taskId ?? "", signal: options.signal };
  if (taskId === undefined) return unknownEnd(of, "the agent named no task to ask for");
  const { webhooks } = dependencies.settings;
  // No webhook of a task whose id cannot be stored is taken: only its agent tells of it.
  const alone = webhooks === undefined || of.operationId === undefined || !isStorableId(taskId);
  const end = await (alone ? pollAlone(dependencies, of) : withWebhooks(dependencies, of));
  // Whatever the wire said of its end: what is still under way has not ended.
  return hasStopped(end) ? inItsConversation(end, answer) : unknownEnd(of, TOLD_NONE, { status: end.status });
}

/** A question is answered in the conversation of its call: not every way it may come by names that. */
const inItsConversation = (end: TaskEnd<AnyArms>, { contextId }: Answer<AnyArms>): TaskEnd<AnyArms> =>
  end.status === "input-required" && contextId !== undefined ? { contextId, ...end } : end;

/** The buyer's own failure: the task may go on, and nobody could say how. */
function unknownEnd(
  { answer, taskId, tool }: WithTask,
  why: string,
  more: { readonly error?: ProtocolError | undefined; readonly status?: TaskStatus; readonly handled?: true } = {},
): TaskEnd<AnyArms> {
  const { error, status = answer.status, handled } = more;
  const told = error === undefined ? "" : `: ${error.code}, ${error.message}`;
  const message = `What became of ${tool.name} is not known: ${why}${told}`;
  const known = { status, ...(taskId !== "" && { task_id: taskId }), ...(handled && { handled }) };
  const details = { ...known, ...(error !== undefined && { error }) };
  const failure = failedHere(localError("TASK_END_UNKNOWN", message, "terminal", { details })).answer;
  return { ...failure, ...(taskId !== "" && { taskId }) } as TaskEnd<AnyArms>;
}

/** Whether an end is the word that none is known: neither here nor to a handler of the receiver. */
export const isUnknown = ({ status, data }: TaskEnd<AnyArms>): boolean => {
  const [error] = status === "failed" ? ((data as Failure | undefined)?.errors ?? []) : [];
  return error?.source === "buyer" && member(error.details, "handled") !== true;
};

type PolledState = Extract<Polled, { kind: "task" }>;

/** An agent that ends a task without a result has not said what came of it. */
const isEmpty = ({ task: { status, result } }: PolledState): boolean => status === "completed" && result === undefined;

/** An end that a poll told of. */
function endOf(of: WithTask, polled: PolledState): Answer<AnyArms> {
  if (!isEmpty(polled)) return polled.answer;
  return unknownEnd(of, "it is completed, and the agent tells no result", { status: polled.task.status });
}

const ms = (wait: number): number => Math.max(0, Math.round(wait));

async function pollAlone(dependencies: BuyerCallDependencies, of: WithTask): Promise<Answer<AnyArms>> {
  const { pollMs, giveUpMs, now, elapsed, pause, logger } = dependencies.settings;
  const { signal } = of;
  const until = elapsed() + giveUpMs;
  let usual = Math.min(FIRST_PAUSE_MS, pollMs);
  let failing = usual;
  let refusals = 0;
  let expected = estimateIn(of.answer.data);
  let status: TaskStatus = of.answer.status;
  let wait = 0;
  do {
    // The last poll comes at the end of that time, whatever the agent estimates.
    wait = Math.min(wait, until - elapsed());
    if (wait > 0) await pause(ms(wait), signal);
    signal?.throwIfAborted();
    const polled = await poll(dependencies, of);
    if (polled.kind === "refused" && (isLacking(polled.error) || ++refusals >= MAX_REFUSALS))
      return unknownEnd(of, "the agent does not say", { error: polled.error, status });
    if (polled.kind !== "task") {
      failing = Math.min(failing * 2, MAX_PAUSE_MS);
      wait = Math.min((polled.kind === "failed" && polled.afterMs) || failing, MAX_PAUSE_MS);
      continue;
    }
    refusals = 0;
    ({ status } = polled.task);
    if (stops(status)) return endOf(of, polled);
    expected = polled.expected ?? expected;
    wait = Math.max(usual, Math.min((expected ?? 0) - now(), MAX_PAUSE_MS));
    failing = usual;
    usual = Math.min(usual * 2, pollMs);
  } while (elapsed() < until);
  logger?.warn({ tool: of.tool.name, taskId: of.taskId }, "a task did not end in time");
  return unknownEnd(of, `it had not ended after ${Math.round(giveUpMs / 1_000)} s`, { status });
}

const ASKED = "whether a question stands could not be asked";

/** Whether a question that a webhook told stands, by what its agent says of the task; who cannot be asked has told all there is. */
const stands = (asked: Polled | undefined): boolean =>
  asked?.kind === "task" ? asked.task.status === "input-required" : asked?.kind === "refused";

async function withWebhooks(dependencies: BuyerCallDependencies, of: WithTask): Promise<Answer<AnyArms>> {
  const { giveUpMs, webhooks, logger } = dependencies.settings;
  const { sender, receiver, completions } = webhooks!;
  let last: Answer<AnyArms> | undefined;
  let status: TaskStatus = of.answer.status;
  let empty = 0;
  const done = new AbortController();
  const late = setTimeout(() => done.abort(), timerMs(giveUpMs));
  const signal = of.signal === undefined ? done.signal : AbortSignal.any([of.signal, done.signal]);
  const tells = (asked?: Polled, body = completions?.find({ ...of, sender })): void => {
    const told = toldBy(of, body, stops);
    // An end as its handler was given it counts before what a poll said; a question does not.
    if (told === undefined || (last !== undefined && !isTerminal(told.status))) return;
    if (!isTerminal(told.status) && asked === undefined) ask();
    else if (isTerminal(told.status) || stands(asked)) {
      last = told;
      done.abort();
    }
  };
  // A question that was answered is told again where its handler failed, or its process died: only its agent knows whether it stands.
  const ask = (): void => {
    poll(dependencies, of)
      .then(tells)
      .catch((error: unknown) => logger?.debug({ err: error }, ASKED));
  };
  const deafen = completions?.listen({ ...of, sender }, () => tells());
  const before = completions?.find({ sender, taskId: null, operationId: of.operationId });
  // A handler had it before anybody waited. Ids of tasks may differ, or be given anew; the operation is the call's alone.
  if (before !== undefined) tells(undefined, before);
  const ended = await receiver
    .watchTask({
      ...{ sender, taskId: of.taskId, taskType: of.tool.name, operationId: of.operationId!, webhooks: true },
      ...{ signal, firstMs: 0, release: of.release.version },
      poll: async () => {
        const polled = await poll(dependencies, of);
        if (polled.kind !== "task") {
          tells(polled);
          throw new Error(`the poll ${polled.kind}`);
        }
        ({ status } = polled.task);
        const lacks = isEmpty(polled);
        if (stops(status) && (!lacks || ++empty >= MAX_REFUSALS)) last = endOf(of, polled);
        // A question does not end a watch: whoever waits is told, when the receiver has been.
        if (last !== undefined && (isInterim(status) || lacks)) setTimeout(() => done.abort(), 0);
        // Taken for its end it would be all that is ever heard of it: the webhook that has the result would come too late.
        if (lacks) throw new Error("the poll told of an end without its result");
        return { ...polled.task, result: polled.task.result ?? {} };
      },
    })
    .finally(() => {
      clearTimeout(late);
      deafen?.();
    });
  of.signal?.throwIfAborted();
  // The end that counts is the one that the handler was given, whatever a poll said meanwhile.
  if (last !== undefined && (ended === null || ended.status === last.status)) return last;
  if (ended === null) return unknownEnd(of, `it had not ended after ${Math.round(giveUpMs / 1_000)} s`, { status });
  return handledEnd(dependencies, of, ended.status);
}

/** A webhook was first. Its data has gone to the receiver's handler: the state is read, as after a missed one. */
async function handledEnd(
  dependencies: BuyerCallDependencies,
  of: WithTask,
  status: TaskStatus,
): Promise<Answer<AnyArms>> {
  const read = await readEnd(dependencies, of, status);
  return read ?? unknownEnd(of, "its webhook is gone, and no poll tells", { status, handled: true });
}

/** @param status that the task has ended with */
async function readEnd(
  dependencies: BuyerCallDependencies,
  of: WithTask,
  status: TaskStatus,
): Promise<Answer<AnyArms> | undefined> {
  const { giveUpMs, elapsed, pause } = dependencies.settings;
  const until = elapsed() + giveUpMs;
  let wait = FIRST_PAUSE_MS;
  for (let unclear = 0; ; wait = Math.min(wait * 2, MAX_PAUSE_MS)) {
    const heard = fromHandlers(dependencies, of);
    if (heard !== undefined) return heard;
    const polled = await poll(dependencies, of);
    const { kind } = polled;
    if (kind === "task" && polled.task.status === status && polled.task.result !== undefined) return polled.answer;
    // Its handler may have run meanwhile, and the inbox have let it go.
    const kept = (await fromInbox(dependencies, of)) ?? fromHandlers(dependencies, of);
    if (kept !== undefined) return kept;
    // An agent that is busy says it later, and so may one whose tasks are behind its webhooks.
    if (kind !== "failed" && ++unclear >= MAX_REFUSALS) return undefined;
    if (kind === "refused" && isLacking(polled.error)) return undefined;
    if (elapsed() + wait > until) return undefined;
    await pause(wait, of.signal);
    of.signal?.throwIfAborted();
  }
}

function fromHandlers({ settings }: BuyerCallDependencies, of: WithTask): Answer<AnyArms> | undefined {
  const { completions, sender } = settings.webhooks!;
  return toldBy(of, completions?.find({ ...of, sender }), isTerminal);
}

/** What a task asked is being answered: who waits for it afterwards is not given it again. */
export function questionAnswered({ settings }: BuyerCallDependencies, { taskId }: Answer<AnyArms>): void {
  const { webhooks } = settings;
  if (taskId !== undefined) webhooks?.completions?.answered({ sender: webhooks.sender, taskId });
}

/** A webhook as what became of a task; undefined where it is of no such status. */
function toldBy(of: WithTask, body: unknown, wanted: (status: TaskStatus) => boolean): Answer<AnyArms> | undefined {
  const envelope = toldEnvelope(body);
  const status = envelope?.status;
  if (!isTaskStatus(status) || !wanted(status)) return undefined;
  // Some agents number their tasks anew after a restart: what another call came to is not this one's.
  if ((envelope?.operation_id ?? of.operationId) !== of.operationId) return undefined;
  return readWebhookAnswer(of.tool, { ...envelope, status }, of.release.word) as Answer<AnyArms>;
}

/** The webhook itself, while the receiver still holds it. */
async function fromInbox({ settings }: BuyerCallDependencies, of: WithTask): Promise<Answer<AnyArms> | undefined> {
  const { receiver, sender } = settings.webhooks!;
  const events = await receiver.store.inbox.list({ sender, taskId: of.taskId, limit: INBOX_EVENTS });
  for (const { body } of events) {
    const ended = toldBy(of, JSON.parse(new TextDecoder().decode(body)), isTerminal);
    if (ended !== undefined) return ended;
  }
  return undefined;
}
