/** One request and what it came to. The connection is opened when first needed, and again after it broke. */
import {
  type Answer,
  type AnyArms,
  type AnyTool,
  type Failure,
  isFailing,
  isTaskStatus,
  isUnclear,
  type JsonObject,
  type ProtocolError,
  type Recovery,
  type Release,
  readAnswer,
  recoveries,
  wireNames,
} from "../contract/index.js";
import type { TransportError } from "../extract/index.js";
import type { Connection, WireAnswer, WireCall } from "../transport/caller.js";
import { openConnection } from "../transport/callers.js";
import { RpcError, shortText, WireFault, wireFaultIn } from "../transport/fault.js";
import { sdkWords } from "../transport/mcp/sdk-words.js";
import { localError, type Miss, missOf, missOfRpc } from "./fault.js";
import { type Opening, openFor } from "./opening.js";
import type { BuyerSettings } from "./settings.js";
import type { Wire } from "./wire.js";

export interface ExchangeResult {
  readonly answer: Answer<AnyArms>;
  readonly payload: JsonObject | null;
  /** Of a failed answer. Undefined when it does not say what is wrong: such a call is not repeated. */
  readonly recovery: Recovery | undefined;
  /** No answer came that tells what became of the call, and the agent may have acted all the same. */
  readonly lost: boolean;
  readonly taskId: string | undefined;
  /** The transport's own task, where it keeps some. */
  readonly nativeTaskId?: string | undefined;
}

export interface Exchange {
  /** Never rejects but with the signal's reason. */
  send(tool: AnyTool, release: Release, call: Omit<WireCall, "tool">): Promise<ExchangeResult>;
  /** Asks for a task by the transport's own means; undefined where it has none. */
  task(
    tool: AnyTool,
    release: Release,
    taskId: string,
    signal: AbortSignal | undefined,
  ): Promise<ExchangeResult | undefined>;
  connection(signal: AbortSignal | undefined): Promise<Connection>;
  close(): Promise<void>;
}

/** A message is only usual on the wire. */
const complete = (error: TransportError): ProtocolError => ({ message: error.code, ...error }) as ProtocolError;

/** A failure made here: `raw` is absent. */
export const failedHere = (error: TransportError, more: Partial<ExchangeResult> = {}): ExchangeResult => ({
  answer: { status: "failed", data: { errors: [complete(error)] } },
  payload: null,
  recovery: error.recovery as Recovery | undefined,
  lost: false,
  taskId: undefined,
  ...more,
});

/** The first of what went wrong; undefined where nothing did. */
export const firstError = ({ answer }: Pick<ExchangeResult, "answer">): ProtocolError | undefined =>
  answer.status === "failed" || answer.status === "rejected" ? (answer.data as Failure).errors[0] : undefined;

export function createExchange({ settings, wire }: { settings: BuyerSettings; wire: Wire }): Exchange {
  const { url, word, timeoutMs, uuid } = settings;
  const dependencies = { url, word, timeoutMs, uuid, fetchFor: wire.fetchFor };
  let opened: Opening | undefined;
  const shared = (): Opening => {
    if (opened === undefined) {
      const opening: Opening = openFor(
        (signal) => openConnection(settings.transport, dependencies, signal),
        () => forget(opening),
      );
      opened = opening;
    }
    return opened;
  };
  // It is not closed: calls beside the one that broke may wait in it for answers, and what is closed has lost them.
  const forget = (broken: Opening | undefined): void => {
    if (opened === broken) opened = undefined;
  };
  async function attempt(
    { tool, release, signal }: { tool: AnyTool; release: Release; signal: AbortSignal | undefined },
    job: (open: Connection) => Promise<WireAnswer>,
  ): Promise<ExchangeResult> {
    let used: Opening | undefined;
    let sent = false;
    try {
      used = shared();
      const open = await used.wait(signal);
      sent = true;
      return readOutcome(tool, release, await job(open));
    } catch (error) {
      signal?.throwIfAborted();
      const miss = toMiss(error, settings.word, release);
      // A session that was lost, or a connection that never came to be: the next attempt opens its own.
      if (miss.lost || wireFaultIn(error)?.status === 404) forget(used);
      settings.logger?.warn({ tool: tool.name, code: miss.error.code, lost: miss.lost && sent }, "a call failed");
      const recovery = recoveries(release.errors, release.defaultUnknownRecovery)(miss.error as ProtocolError);
      return failedHere(miss.error, { recovery, lost: miss.lost && sent });
    }
  }
  const connection = (signal: AbortSignal | undefined) => shared().wait(signal);
  return {
    connection,
    send: (tool, release, call) =>
      attempt({ tool, release, signal: call.signal }, (open) => open.call({ ...call, tool: tool.name })),
    async task(tool, release, taskId, signal) {
      const open = await connection(signal);
      if (open.task === undefined) return undefined;
      return attempt({ tool, release, signal }, async () => about(taskId, await open.task!(taskId, signal)));
    },
    async close() {
      const last = opened;
      opened = undefined;
      await last?.connection.then((open) => open.close()).catch(() => undefined);
    },
  };
}

/** What is told of another task is no answer: its end would be taken for that of the one that was asked for. */
function about(taskId: string, told: WireAnswer): WireAnswer {
  if ([undefined, taskId].includes(told.taskId) || told.payload?.task_id === taskId) return told;
  throw new WireFault("The agent told of another task than it was asked for", { status: 200 });
}

function toMiss(error: unknown, word: string, release: Release): Miss {
  const fault = wireFaultIn(error);
  if (fault !== undefined) return missOf(fault, word, release);
  const { code, message, data } = error as { code?: unknown; message?: string; data?: unknown };
  if (typeof code === "number") {
    return missOfRpc({ code, message: message ?? "", data }, word, error instanceof RpcError && error.refused);
  }
  const said = message === undefined ? "No answer from the agent" : shortText(sdkWords(error));
  return { error: localError("SERVICE_UNAVAILABLE", said, "transient"), lost: true };
}

/** Deepest nesting of an answer, as of a webhook: whoever writes it down, or judges it, would run out of stack. */
const MAX_LEVELS = 256;

function isDeeper(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return false;
}

/** An answer of the wire as one of the tool's arms. */
function readOutcome(tool: AnyTool, release: Release, wire: WireAnswer): ExchangeResult {
  const { word } = release;
  const { payload, state, error } = wire;
  if (payload === null && (state === undefined || state === "completed") && error === null) {
    // It may have acted, and what was registered for it stays. That it is done is no word of what was.
    const said = wire.text === undefined ? "" : `: ${wire.text}`;
    const error = localError("INVALID_ANSWER", `The answer has no data${said}`, "correctable");
    return failedHere(error, { lost: true, taskId: wire.taskId, nativeTaskId: wire.taskId });
  }
  if (isDeeper(payload, MAX_LEVELS)) {
    const error = localError("INVALID_ANSWER", `The answer nests deeper than ${MAX_LEVELS} levels`, "correctable");
    return failedHere(error, { lost: true });
  }
  const transport = { status: state, taskId: wire.taskId, contextId: wire.contextId };
  const answer = readAnswer(tool, payload ?? {}, word, transport) as Answer<AnyArms>;
  const { taskId } = answer;
  if (!isFailing(answer.status)) {
    return { answer, payload, recovery: undefined, lost: false, taskId, nativeTaskId: wire.taskId };
  }
  const data = answer.data as Failure;
  const errors = data.errors.length > 0 ? data.errors : error === null ? [] : [complete(error)];
  const named = errors.length > 0 ? errors : unnamed(wire);
  return {
    answer: { ...answer, data: { ...data, errors: named } },
    payload: payload ?? (error === null ? null : { [wireNames(word).error]: error }),
    recovery: errors.length === 0 ? undefined : strictest(release, errors),
    // Work may be under way: what was registered for it stays, and its webhook is still expected.
    lost: isUnclear(data) || (errors.length === 0 && saysOtherwise(wire)),
    taskId,
  };
}

/** The transport calls the call failed, and the payload that it goes on or is done. */
const saysOtherwise = ({ payload }: WireAnswer): boolean => isTaskStatus(payload?.status) && !isFailing(payload.status);

/** An answer that failed without a code, such as a tool's own text: for people to read. */
function unnamed(wire: WireAnswer): ProtocolError[] {
  const { payload, text = "The call failed, and the agent does not say why" } = wire;
  const otherwise = `The transport says that the call failed, and the answer that it is ${payload?.status}: ask the agent what became of it`;
  const said = saysOtherwise(wire) ? [otherwise, ...(wire.text === undefined ? [] : [text])].join("; ") : text;
  return [localError("UNNAMED_ERROR", said, "correctable")];
}

const order: readonly Recovery[] = ["terminal", "correctable", "transient"];

/** Of several errors the one that leaves the least to do. */
function strictest(release: Release, errors: readonly ProtocolError[]): Recovery {
  const of = recoveries(release.errors, release.defaultUnknownRecovery);
  const found = errors.map(of);
  return order.find((one) => found.includes(one))!;
}
