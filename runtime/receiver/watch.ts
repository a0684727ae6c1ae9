/** Polling as the backup of webhooks: what it finds goes through the same claim, order and inbox. */
import { isTaskStatus, isTerminal, type TaskStatus } from "../contract/index.js";
import { isStorableId } from "../contract/storable-id.js";
import { AdbindError } from "../errors.js";
import { toInstant } from "../moment.js";
import type { AcceptOutcome, RouteBinding, TaskState } from "../store/types.js";
import { timerMs } from "../timers.js";
import { payloadOf } from "./envelope.js";
import type { Ingest } from "./ingest.js";
import { timeAt } from "./instant.js";
import type { ReceiverConfig } from "./settings.js";

/** Pause between polls while webhooks are configured (docs/protocol/tasks.md#timing). */
const WITH_WEBHOOKS_MS = 120_000;
/** Pause between polls without webhooks (docs/protocol/tasks.md#timing). */
const ALONE_MS = 30_000;
/** Shortest pause after a poll that failed, in milliseconds. */
const LEAST_PAUSE_MS = 1_000;
/** Longest pause while polls fail, in milliseconds: half an hour. */
const MAX_PAUSE_MS = 1_800_000;

/** How long a poll may take, in milliseconds: ten minutes, more than a call with all its retries. */
const POLL_MS = 600_000;

/** What the seller answers about a task (`get_task_status`). */
export interface PolledTask {
  readonly status: TaskStatus;
  /** When it changed (`updated_at`), a date-time of RFC 3339. Where the seller does not say, only an end is an event. */
  readonly timestamp?: string;
  /** The task's data, as a webhook would carry it. */
  readonly result?: unknown;
  readonly message?: string;
}

/** Which task to poll beside its webhooks, and how. `firstMs`: when to begin. */
export interface WatchOptions {
  readonly sender: string;
  readonly taskId: string;
  readonly taskType: string;
  readonly operationId?: string;
  /** Asks the seller. A rejection is a failed poll. */
  readonly poll: () => Promise<PolledTask>;
  /** How long one poll may take, in milliseconds; what takes longer is a failed one. Default ten minutes. */
  readonly pollTimeoutMs?: number;
  /** Webhooks are configured too, and polling is the backup. Default true. */
  readonly webhooks?: boolean;
  /** Until the first poll, in milliseconds; as long as between two by default. */
  readonly firstMs?: number;
  /** Version of the release the sender speaks; its configured one by default. */
  readonly release?: string;
  /** Ends the watch early. */
  readonly signal?: AbortSignal;
}

/** How a watch ended: the terminal status, from whichever side it came; or null when it was stopped. */
export type Watched = { readonly status: TaskStatus } | null;

/** Resolves early when `wake` is called. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

const timerPause: Pause = (ms, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms).unref();
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });

/** Tells the watches of this process at once when a task ends; those of others see it in the store. */
export class Endings {
  readonly #watches = new Map<string, Set<AbortController>>();

  /** Runs `job` with a signal that is aborted when the task ends. */
  async during(sender: string, taskId: string, job: (ended: AbortSignal) => Promise<void>): Promise<void> {
    const name = `${sender} ${taskId}`;
    const controller = new AbortController();
    const of = this.#watches.get(name) ?? new Set();
    this.#watches.set(name, of.add(controller));
    await job(controller.signal);
    of.delete(controller);
    if (of.size === 0) this.#watches.delete(name);
  }

  readonly tell = (sender: string, taskId: string): void => {
    for (const controller of this.#watches.get(`${sender} ${taskId}`) ?? []) controller.abort();
  };
}

/**
 * Polls until the task ends, by a webhook or by a poll, whichever is first. Failed polls double the pause, up to half an
 * hour; a good one brings it back.
 * @throws AdbindError `receiver_option_invalid` for a task id that databases do not store as it is
 */
export async function watch<Tx>(
  config: ReceiverConfig<Tx>,
  ingest: Ingest,
  options: WatchOptions,
  { pause = timerPause, endings }: { pause?: Pause | undefined; endings: Endings },
): Promise<Watched> {
  const { sender, taskId, operationId, webhooks = true } = options;
  if (!isStorableId(taskId)) {
    const remedy = "poll such a task yourself: no webhook of it is taken either";
    throw new AdbindError("receiver_option_invalid", "the task's id cannot be stored", { where: "taskId", remedy });
  }
  const signal = options.signal ?? new AbortController().signal;
  const usual = webhooks ? WITH_WEBHOOKS_MS : ALONE_MS;
  let wait = options.firstMs ?? usual;
  // The last mark on the task that was polled for, whatever came of it: one that is there from before is polled for at once.
  let asked: number | null = null;
  const untilEnd = (isNews: (state: TaskState) => boolean, job: (stop: AbortSignal) => Promise<void>): Promise<void> =>
    endings.during(sender, taskId, async (ended) => {
      const elsewhere = lookOut(config, options, (state) => {
        if (isNews(state)) endings.tell(sender, taskId);
      });
      await job(AbortSignal.any([signal, ended])).finally(() => clearInterval(elsewhere));
    });
  while (!signal.aborted) {
    await untilEnd(
      (state) => state.terminal || state.missed !== asked,
      (stop) => pause(wait, stop),
    );
    if (signal.aborted) break;
    try {
      const state = await config.store.task(sender, taskId, operationId);
      const known = endOf(state);
      if (known !== null) return known;
      asked = state?.missed ?? null;
      const question = new Asked(options);
      // A webhook may end the task while the seller is asked, and a seller may never answer.
      while (question.open && !signal.aborted) {
        await untilEnd(({ terminal }) => terminal, question.settled);
        const ended = question.open ? endOf(await config.store.task(sender, taskId, operationId)) : null;
        if (ended !== null) return ended;
      }
      if (signal.aborted && question.open) break;
      const polled = await question.answer();
      await ingestPolled(config, ingest, options, polled);
      if (isTerminal(polled.status))
        return endOf(await config.store.task(sender, taskId, operationId)) ?? { status: polled.status };
      wait = usual;
    } catch (error) {
      // The first may have come at once: the next must not.
      wait = Math.min(Math.max(wait * 2, LEAST_PAUSE_MS), MAX_PAUSE_MS);
      config.log.warn({ sender, error: error instanceof Error ? error.name : typeof error }, "poll failed");
    }
  }
  return null;
}

/** One poll under way. What comes of it after its time, or after the watch, is nobody's. */
class Asked {
  open = true;
  #late = false;
  readonly #answer: Promise<PolledTask>;
  /** Aborted when the answer is there, or its time over. */
  readonly #closed = new AbortController();

  constructor({ poll, pollTimeoutMs = POLL_MS }: WatchOptions) {
    const close = (): void => {
      clearTimeout(timer);
      this.open = false;
      this.#closed.abort();
    };
    const timer = setTimeout(() => {
      this.#late = true;
      close();
    }, timerMs(pollTimeoutMs)).unref();
    this.#answer = (async () => poll())();
    this.#answer.then(close, close);
  }

  /** Resolves when the answer is there, its time over, or `stop` aborted. */
  readonly settled = (stop: AbortSignal): Promise<void> => {
    const either = AbortSignal.any([stop, this.#closed.signal]);
    return new Promise((resolve) => {
      if (either.aborted) resolve();
      else either.addEventListener("abort", () => resolve(), { once: true });
    });
  };

  async answer(): Promise<PolledTask> {
    if (this.#late) throw new Error("the poll did not end in time");
    return this.#answer;
  }
}

/** The end that was applied, whoever told of it: what its handler was given. */
const endOf = (state: TaskState | undefined): Watched =>
  state?.terminal && isTaskStatus(state.status) ? { status: state.status } : null;

/** An instance beside this one may take the event that ends the task, or miss it: the store they share says so. */
function lookOut<Tx>(
  { store, pollMs }: ReceiverConfig<Tx>,
  { sender, taskId, operationId }: WatchOptions,
  tell: (state: TaskState) => void,
): NodeJS.Timeout {
  const look = async (): Promise<void> => {
    const state = await store.task(sender, taskId, operationId);
    if (state !== undefined) tell(state);
  };
  // A store that is away is looked at again; the watch itself reports it.
  return setInterval(() => void look().catch(() => undefined), pollMs).unref();
}

/** A poll's answer as the event it would have been. Its key is the same on every instance that polls. */
async function ingestPolled<Tx>(
  config: ReceiverConfig<Tx>,
  ingest: Ingest,
  { sender, taskId, taskType, operationId, release }: WatchOptions,
  polled: PolledTask,
): Promise<void> {
  const { status } = polled;
  if (!isTaskStatus(status)) throw new TypeError("the poll gave no task status");
  const instant = toInstant(polled.timestamp);
  // Without a time nobody can tell whether it is news, nor what comes after it. An end is there once.
  if (instant === undefined && !isTerminal(status)) return;
  const key = [
    "poll",
    ...(operationId === undefined ? [] : [operationId]),
    taskId,
    status,
    ...(instant === undefined ? [] : [instant]),
  ].join(":");
  const envelope = { idempotency_key: key, task_id: taskId, task_type: taskType, ...polled };
  const raw = Buffer.from(
    JSON.stringify(operationId === undefined ? envelope : { ...envelope, operation_id: operationId }),
  );
  const binding: RouteBinding = {
    route: "poll",
    sender,
    kind: "task",
    mode: "signature",
    format: "mcp",
    release: release ?? config.senderOf(sender)?.release ?? null,
  };
  const body: unknown = JSON.parse(raw.toString());
  const outcome = await ingest(
    {
      binding,
      body,
      raw,
      token: null,
      envelope: {
        ...{ key, format: "mcp", taskId, taskType, operationId: operationId ?? null, status },
        ...{ time: { instant: timeAt(instant, config.now()).instant, by: "poll" } },
        ...{ notificationId: null, token: null, ordered: true, terminal: isTerminal(status) },
        payload: payloadOf(body, "task", "mcp"),
      },
    },
    { ...binding, operationId: null, taskType, tokenDigest: null, events: null, expires: null },
  );
  if (!isKept(outcome)) throw new Error(`what was polled could not be kept: ${outcome.outcome}`);
}

/** Nothing of a poll is lost for want of room: it is a failed one, and comes again. */
const isKept = ({ outcome }: AcceptOutcome): boolean =>
  outcome === "accepted" || outcome === "duplicate" || outcome === "stale";
