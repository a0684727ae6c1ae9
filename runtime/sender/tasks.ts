/** The task channel: a registration, then one event for each change of status (docs/protocol/webhooks.md#events). */
import type { MaybePromise } from "../contract/index.js";
import { isTerminal, type TaskStatus } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { type EachWork, oneOf, type SharedWork } from "../queue/each.js";
import type { SentTaskRow } from "../store/sent-tasks.js";
import { activeTraceparent } from "../trace-context.js";
import type { HeldChannels, ReportingWebhook } from "./buy-configs.js";
import { heldIn, holdFlow } from "./held-channels.js";
import { checkId, checkSoughtNames } from "./ids.js";
import { taskOrderingKey } from "./outbox.js";
import { joinConfig, openConfig, taskRegistration } from "./registered-config.js";
import { taskEndpoints } from "./registered-secrets.js";
import { taskChannel } from "./task-channels.js";
import { type TaskDetails, taskDetailsOf } from "./task-details.js";
import type { SenderTaskDependencies } from "./task-events.js";
import { faultIn, tellable } from "./task-registration.js";
import { newTask, noSuchTask, registerFlow, type SealedTask } from "./task-rows.js";
import { updateAllFlow, updateWork } from "./task-updates.js";
import { holdOwner, inTransaction, inTransactionEach, takeRows } from "./transact.js";
import type {
  A2aPushConfig,
  Emitted,
  OwnedOptions,
  Refused,
  Registered,
  StatusChange,
  TaskChannels,
  TaskStart,
  TaskUpdate,
  UpdateOptions,
  WithinOptions,
} from "./types.js";

/** Tasks and the webhooks of their changes. */
export interface Tasks {
  /**
   * Judges channels without taking them, so that a call is refused before it has done anything.
   * @param release version of the one the caller is answered in
   * @returns a refusal to answer the caller with; undefined where `register` takes them
   * @throws AdbindError `event_invalid` for a tool the release does not have
   */
  check(tool: string, channels: TaskChannels, release?: string): Refused | undefined;
  /**
   * Takes the channels of a task whose initial response was not terminal; registering it again changes nothing.
   * @param options with `tx`, on SQLite, the answer is no promise
   * @returns a refusal to answer the caller with, where a channel cannot be honoured, or the task is another principal's
   *   (`CONFLICT`)
   * @throws AdbindError `event_invalid` for a tool the release does not have, and for an id or a principal that cannot be stored
   */
  register(start: TaskStart, channels: TaskChannels, options?: WithinOptions): MaybePromise<Registered>;
  /**
   * Gives a task that goes on A2A's own channel, another one, or none (null). The task is registered where it is not yet.
   * @returns as `register` does; `REFERENCE_NOT_FOUND` where the task is another principal's
   * @throws AdbindError `event_invalid` for a tool the release does not have
   */
  attach(start: TaskStart, a2a: A2aPushConfig | null, options?: WithinOptions): MaybePromise<Registered>;
  /** What `attach` or `register` gave a task as A2A's own channel. */
  attached(taskId: string, options?: OwnedOptions): MaybePromise<A2aPushConfig | undefined>;
  /**
   * Keeps where the media buy that a task makes is to be reported on, its secrets sealed, until the task has ended: `held` has it
   * then. What was kept before of the task is forgotten. The task is registered where it is not yet.
   * @returns `REFERENCE_NOT_FOUND` where the task is another principal's
   * @throws AdbindError as `register` does
   */
  hold(start: TaskStart, reporting: ReportingWebhook, options?: WithinOptions): MaybePromise<Registered>;
  /** What a task was registered with, and what is kept of it: without what has secrets that cannot be opened. */
  held(taskId: string, options?: OwnedOptions): MaybePromise<HeldChannels>;
  /**
   * Records a change of status and stores its event for each channel, in the caller's transaction. A task that was not
   * registered has no channel, and nothing is sent.
   * @throws AdbindError `transition_refused` for a change that cannot be, `event_invalid` for a result the release's schema
   *   refuses, for an id that no task can have and for what is no time, `dedup_conflict` for a dedup key that was used for other content; nothing is stored then, and the caller's
   *   transaction should not commit either. `transaction_invalid` for a `tx` that is no open transaction
   */
  update(taskId: string, change: StatusChange, options?: UpdateOptions): MaybePromise<Emitted>;
  /**
   * Records many changes, of one task or of many, in their order: all of them or none. On PostgreSQL in one statement, two
   * where another process has changed one of the tasks since, however many there are; one more for each 32 MiB of their events.
   * @returns for each what `update` answers
   * @throws AdbindError as `update` does, for the first that cannot be
   */
  updateAll(changes: readonly TaskUpdate[], options?: OwnedOptions): MaybePromise<readonly Emitted[]>;
  /**
   * Forgets a principal's task, as though it had never been registered: another one may have its id. Its events that wait are
   * sent to nobody, unless it is registered anew before.
   */
  forget(taskId: string, principal: string, options?: WithinOptions): MaybePromise<void>;
}

/** Runs a flow in the order of a task's other changes. */
type InOrder = <T>(taskId: string, tx: unknown, flow: (open: Query) => Coroutine<T>) => MaybePromise<T>;

const holding = (parts: SenderTaskDependencies, inOrder: InOrder): Pick<Tasks, "hold" | "held"> => ({
  hold: (start, reporting, { tx } = {}) => inOrder(start.taskId, tx, (open) => holdFlow(parts, open, start, reporting)),
  held(taskId, { tx, principal } = {}) {
    checkSoughtNames({ taskId, principal });
    return inOrder(taskId, tx, function* (open): Coroutine<HeldChannels> {
      yield* holdOwner(parts.tables, open, principal);
      return yield* heldIn(parts, open, taskId);
    });
  },
});

export function createTasks(parts: SenderTaskDependencies): Tasks {
  const { queue } = parts;
  const registering: EachWork<SealedTask, Registered> = (query, tasks) => registerFlow(parts, query, tasks);
  const updating = updateWork(parts);
  const inOrder: InOrder = <T>(taskId: string, tx: unknown, flow: (open: Query) => Coroutine<T>): MaybePromise<T> => {
    const work: SharedWork<T> = function* (open, locking) {
      yield* takeRows(parts.tables, open, { tasks: [taskId] }, locking);
      return yield* flow(open);
    };
    return inTransaction(queue, tx, work, taskId);
  };
  return {
    check: (tool, channels, version) => faultIn(parts, channels, tool, version),
    register(start, given, { tx } = {}) {
      if (isTerminal(start.status)) return { ok: true, registered: false };
      const fault = faultIn(parts, given, start.tool, start.release);
      if (fault !== undefined) return fault;
      const channels = tellable(parts, start, given);
      if (channels.push === undefined && channels.a2a === undefined) return { ok: true, registered: false };
      const item = newTask(parts, start, channels);
      return inTransactionEach(queue, tx, registering, { item, key: start.taskId });
    },
    attach(start, a2a, { tx } = {}) {
      if (isTerminal(start.status)) return { ok: true, registered: false };
      checkSoughtNames({ taskId: start.taskId });
      const fault = a2a === null ? undefined : faultIn(parts, { a2a }, start.tool, start.release);
      return fault ?? inOrder(start.taskId, tx, (open) => attachFlow(parts, open, start, a2a));
    },
    attached(taskId, { tx, principal } = {}) {
      checkSoughtNames({ taskId, principal });
      return inOrder(taskId, tx, function* (open): Coroutine<A2aPushConfig | undefined> {
        yield* holdOwner(parts.tables, open, principal);
        const [row] = yield* parts.tables.task(open, taskId);
        return row === undefined ? undefined : yield* attachedIn(parts, open, row);
      });
    },
    ...holding(parts, inOrder),
    update(taskId, change, { tx, dedupKey, principal, at } = {}) {
      checkSoughtNames({ taskId, principal });
      if (dedupKey !== undefined) checkId("dedupKey", dedupKey);
      const item = { taskId, change, dedupKey, principal, at, trace: activeTraceparent() };
      return inTransactionEach(queue, tx, updating, { item, key: taskId });
    },
    updateAll(changes, { tx, principal } = {}) {
      const trace = activeTraceparent();
      const updates = changes.map(({ taskId, dedupKey, at, ...change }) => {
        checkSoughtNames({ taskId, principal });
        if (dedupKey !== undefined) checkId("dedupKey", dedupKey);
        return { taskId, change, dedupKey, principal, at, trace };
      });
      return inTransaction(queue, tx, (query, locking) => updateAllFlow({ parts, query, updates, locking }));
    },
    forget(taskId, principal, { tx } = {}) {
      checkSoughtNames({ taskId, principal });
      return inOrder(taskId, tx, (open) => forgetFlow(parts, open, taskId, principal));
    },
  };
}

/** A2A's own channel as it was given; without its secrets where they cannot be opened. */
function* attachedIn(
  { tables, keyring }: SenderTaskDependencies,
  tx: Query,
  row: SentTaskRow,
): Coroutine<A2aPushConfig | undefined> {
  const { a2a } = taskDetailsOf(row);
  if (a2a === undefined) return undefined;
  const registration = taskRegistration("a2a", row.task_id);
  const [box] = a2a.sealed === true ? yield* tables.secretsOf(tx, [registration]) : [];
  const opened = openConfig(keyring, a2a, box, { principal: row.principal, registration });
  return opened.ok ? opened.config : joinConfig(a2a, undefined);
}

function* attachFlow(
  parts: SenderTaskDependencies,
  tx: Query,
  start: TaskStart,
  config: A2aPushConfig | null,
): Coroutine<Registered> {
  const [row] = yield* parts.tables.task(tx, start.taskId);
  if (row === undefined) {
    if (config === null) return NONE;
    const [result] = yield* registerFlow(parts, tx, [newTask(parts, start, { a2a: config })]);
    return oneOf([result!]);
  }
  if (row.principal !== start.principal) return noSuchTask;
  if (isTerminal(row.status as TaskStatus)) return NONE;
  const { a2a: _before, ...details } = taskDetailsOf(row);
  const operation = details.push?.operation_id;
  const made = config === null ? undefined : taskChannel(parts, start, { via: "a2a", config, operation });
  const next: TaskDetails = made === undefined ? details : { ...details, a2a: made.stored };
  yield* parts.tables.setTaskDetails(tx, start.taskId, JSON.stringify(next), taskEndpoints(row.principal, next));
  if (made !== undefined) yield* parts.queue.redirect(tx, taskOrderingKey("a2a", start.taskId), made.endpoint);
  if (made?.row === undefined) yield* parts.tables.dropSecrets(tx, [taskRegistration("a2a", start.taskId)]);
  else yield* parts.tables.putSecrets(tx, [made.row]);
  return { ok: true, registered: config !== null };
}

function* forgetFlow(
  { tables, known }: SenderTaskDependencies,
  tx: Query,
  taskId: string,
  principal: string,
): Coroutine<void> {
  const [row] = yield* tables.task(tx, taskId);
  if (row?.principal !== principal) return;
  yield* tables.dropTask(tx, taskId);
  yield* tables.dropSecrets(
    tx,
    (["push", "a2a", "reporting"] as const).map((via) => taskRegistration(via, taskId)),
  );
  known?.forget(taskId);
}

const NONE: Registered = { ok: true, registered: false };
