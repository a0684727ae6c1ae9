/** The task channel: a registration, then one event for each change of status (service.md, "Events"). */
import type { MaybePromise } from "../contract/index.js";
import { type AnyTool, answersLater, isTerminal, type TaskStatus } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { operationRequired } from "../facts/index.js";
import type { EachWork } from "../queue/each.js";
import { newRevision, type SentTaskRow } from "../store/sent-tasks.js";
import { A2A_TOKEN_CHARACTERS, type RegistrationRules, refused, registrationFault } from "./registration.js";
import type { TaskDetails } from "./task-details.js";
import { type TaskParts, taskExpires, toolOf } from "./task-events.js";
import { updateAllFlow, updateWork } from "./task-updates.js";
import { inTransaction, inTransactionEach } from "./transact.js";
import type {
  A2aPushConfig,
  Emitted,
  Refused,
  Registered,
  StatusChange,
  TaskChannels,
  TaskStart,
  TaskUpdate,
  UpdateOptions,
  WithinOptions,
} from "./types.js";

export interface Tasks {
  /**
   * Judges channels without taking them, so that a call is refused before it has done anything.
   * @param release version of the one spoken with the caller
   * @returns a refusal to answer the caller with; undefined where `register` takes them
   * @throws AdbindError `event_invalid` for a tool the release does not have
   */
  check(tool: string, channels: TaskChannels, release?: string): Refused | undefined;
  /**
   * Takes the channels of a task whose initial response was not terminal; registering it again changes nothing.
   * @param options with `tx`, on SQLite, the answer is no promise
   * @returns a refusal to answer the caller with, where a channel cannot be honoured, or the task is another principal's
   *   (`CONFLICT`)
   * @throws AdbindError `event_invalid` for a tool the release does not have
   */
  register(start: TaskStart, channels: TaskChannels, options?: WithinOptions): MaybePromise<Registered>;
  /**
   * Gives a task that goes on A2A's own channel, another one, or none (null). The task is registered where it is not yet.
   * @returns as `register` does; `REFERENCE_NOT_FOUND` where the task is another principal's
   * @throws AdbindError `event_invalid` for a tool the release does not have
   */
  attach(start: TaskStart, a2a: A2aPushConfig | null, options?: WithinOptions): MaybePromise<Registered>;
  /** What `attach` or `register` gave a task as A2A's own channel. */
  attached(taskId: string, options?: WithinOptions): MaybePromise<A2aPushConfig | undefined>;
  /**
   * Records a change of status and stores its event for each channel, in the caller's transaction. A task that was not
   * registered has no channel, and nothing is sent.
   * @throws AdbindError `transition_refused` for a change that cannot be, `event_invalid` for a result the release's schema
   *   refuses, `dedup_conflict` for a dedup key that was used for other content; nothing is stored then, and the caller's
   *   transaction should not commit either. `transaction_invalid` for a `tx` that is no open transaction
   */
  update(taskId: string, change: StatusChange, options?: UpdateOptions): MaybePromise<Emitted>;
  /**
   * Records many changes, of one task or of many, in their order: all of them or none. On PostgreSQL in one statement, two
   * where another process has changed one of the tasks since, however many there are.
   * @returns for each what `update` answers
   * @throws AdbindError as `update` does, for the first that cannot be
   */
  updateAll(changes: readonly TaskUpdate[], options?: WithinOptions): MaybePromise<readonly Emitted[]>;
}

/** Part of index entries. */
const MAX_ID_CHARACTERS = 255;

export function createTasks(parts: TaskParts): Tasks {
  const { queue } = parts;
  const registering: EachWork<SentTaskRow, Registered> = (query, rows) => registerFlow(parts, query, rows);
  const updating = updateWork(parts);
  return {
    check: (tool, channels, version) => faultIn(parts, channels, tool, version),
    register(start, channels, { tx } = {}) {
      if (isTerminal(start.status)) return { ok: true, registered: false };
      const fault = faultIn(parts, channels, start.tool, start.release);
      if (fault !== undefined) return fault;
      if (channels.push === undefined && channels.a2a === undefined) return { ok: true, registered: false };
      const item = taskRow(parts, start, channels);
      return inTransactionEach(queue, tx, registering, { item, key: start.taskId });
    },
    attach(start, a2a, { tx } = {}) {
      if (isTerminal(start.status)) return { ok: true, registered: false };
      const fault = a2a === null ? undefined : faultIn(parts, { a2a }, start.tool, start.release);
      return fault ?? inTransaction(queue, tx, (open) => attachFlow(parts, open, start, a2a));
    },
    attached: (taskId, { tx } = {}) =>
      inTransaction(queue, tx, function* (open): Coroutine<A2aPushConfig | undefined> {
        const [row] = yield* parts.tables.task(open, taskId);
        return row === undefined ? undefined : (JSON.parse(row.details) as TaskDetails).a2a;
      }),
    update(taskId, change, { tx, dedupKey } = {}) {
      if (dedupKey !== undefined) checkId("dedupKey", dedupKey);
      return inTransactionEach(queue, tx, updating, { item: { taskId, change, dedupKey }, key: taskId });
    },
    updateAll(changes, { tx } = {}) {
      const updates = changes.map(({ taskId, dedupKey, ...change }) => {
        if (dedupKey !== undefined) checkId("dedupKey", dedupKey);
        return { taskId, change, dedupKey };
      });
      return inTransaction(queue, tx, (open) => updateAllFlow(parts, open, updates));
    },
  };
}

/** @throws AdbindError `event_invalid` for a tool the release does not have */
function faultIn(
  { spoken, rules }: TaskParts,
  channels: TaskChannels,
  name: string,
  version: string | undefined,
): Refused | undefined {
  const { release } = spoken.of(version);
  const refuse = operationRequired(release) ? { ...rules.refuse, withoutOperationId: true } : rules.refuse;
  return channelsFault(channels, toolOf(release, name), { ...rules, refuse, version: release.version });
}

function channelsFault({ push, a2a }: TaskChannels, tool: AnyTool, rules: RegistrationRules): Refused | undefined {
  if (push !== undefined) {
    const where = "push_notification_config";
    if (rules.refuse.syncOnlyTools && !answersLater(tool)) return refused(`${tool.name} always answers at once`, where);
    if (rules.refuse.withoutOperationId && push.operation_id === undefined) {
      return refused("operation_id is required", `${where}.operation_id`);
    }
    const fault = registrationFault(push, where, tool, rules);
    if (fault !== undefined) return fault;
  }
  if (a2a === undefined) return undefined;
  // It travels in a header.
  if (typeof a2a.token === "string" && !/^[\x21-\x7e]*$/.test(a2a.token)) {
    return refused("a token has characters no header may carry", "configuration.pushNotificationConfig.token");
  }
  return registrationFault(a2a, "configuration.pushNotificationConfig", tool, {
    ...rules,
    tokenCharacters: A2A_TOKEN_CHARACTERS,
  });
}

function checkId(where: "taskId" | "dedupKey", id: string): void {
  if (id !== "" && id.length <= MAX_ID_CHARACTERS && id.isWellFormed() && !id.includes("\0")) return;
  throw new AdbindError(
    "event_invalid",
    where === "taskId" ? "a task id cannot be used" : "a dedup key cannot be used",
    {
      where,
      remedy: `use 1 to ${MAX_ID_CHARACTERS} characters`,
    },
  );
}

function taskRow({ now }: TaskParts, start: TaskStart, channels: TaskChannels): SentTaskRow {
  const { taskId, context, contextId, release } = start;
  checkId("taskId", taskId);
  const details: TaskDetails = {
    ...(channels.push !== undefined && { push: channels.push }),
    ...(channels.a2a !== undefined && { a2a: channels.a2a }),
    ...(context !== undefined && { context }),
    ...(contextId !== undefined && { contextId }),
    ...(release !== undefined && { release }),
  };
  return {
    task_id: taskId,
    principal: start.principal,
    tool: start.tool,
    status: start.status,
    instant: new Date(now()).toISOString(),
    details: JSON.stringify(details),
    expires: taskExpires(now()),
    revision: newRevision(),
  };
}

function* registerFlow(
  { tables, known }: TaskParts,
  tx: Query,
  rows: readonly SentTaskRow[],
): Coroutine<PromiseSettledResult<Registered>[]> {
  const added = new Set((yield* tables.addTasks(tx, rows)).map((row) => row.task_id));
  const before = rows.filter((row) => !added.has(row.task_id)).map((row) => row.task_id);
  for (const row of rows.toReversed()) if (added.has(row.task_id)) known?.note(row);
  // Of several under one id the first was added: set last, it stands.
  const owners = new Map(rows.toReversed().map((row) => [row.task_id, row.principal]));
  if (before.length > 0) {
    for (const { task_id, principal } of yield* tables.knownTasks(tx, before)) owners.set(task_id, principal);
  }
  return rows.map(({ task_id, principal }) => ({
    status: "fulfilled",
    value: owners.get(task_id) === principal ? { ok: true, registered: true } : taken,
  }));
}

/** What a caller is told of another principal's task: by its id it cannot be had, and whose it is nobody learns. */
const taken = refused("there is a task of this id already", "task_id", "CONFLICT");
const unknown = refused("there is no such task", "task_id", "REFERENCE_NOT_FOUND");

function* attachFlow(
  parts: TaskParts,
  tx: Query,
  start: TaskStart,
  config: A2aPushConfig | null,
): Coroutine<Registered> {
  const [row] = yield* parts.tables.task(tx, start.taskId);
  if (row === undefined) {
    if (config === null) return NONE;
    yield* parts.tables.addTasks(tx, [taskRow(parts, start, { a2a: config })]);
    return { ok: true, registered: true };
  }
  if (row.principal !== start.principal) return unknown;
  if (isTerminal(row.status as TaskStatus)) return NONE;
  const { a2a: _before, ...details } = JSON.parse(row.details) as TaskDetails;
  const next: TaskDetails = config === null ? details : { ...details, a2a: config };
  yield* parts.tables.setTaskDetails(tx, start.taskId, JSON.stringify(next));
  return { ok: true, registered: config !== null };
}

const NONE: Registered = { ok: true, registered: false };
