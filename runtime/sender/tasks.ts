/** The task channel: a registration, then one event for each change of status (service.md, "Events"). */
import { type AnyTool, isTerminal, type JsonObject, type Release, type TaskStatus } from "../contract.js";
import { AdbindError } from "../errors.js";
import type { MaybePromise, Queue } from "../queue/types.js";
import { type Flow, settle } from "../signing/flow.js";
import type { SenderTables, SentTaskRow, TaskChange } from "../store/sender-tables.js";
import type { Validator } from "../validate/index.js";
import { a2aEvent, encodeBody, mcpEnvelope, type TaskEvent } from "./envelope.js";
import { type Delivery, enqueue } from "./outbox.js";
import { authOf, type RegistrationRules, refused, registrationFault } from "./registration.js";
import { eachOf, inTransaction, inTransactionEach } from "./transact.js";
import { describeNext, mayFollow } from "./transitions.js";
import type {
  A2aPushConfig,
  Emitted,
  PushNotificationConfig,
  Refused,
  Registered,
  StatusChange,
  TaskChannels,
  TaskStart,
} from "./types.js";

export interface Tasks<Tx> {
  /**
   * Judges channels without taking them, so that a call is refused before it has done anything.
   * @returns a refusal to answer the caller with; undefined where `register` takes them
   * @throws AdbindError `event_invalid` for a tool the release does not have
   */
  check(tool: string, channels: TaskChannels): Refused | undefined;
  /**
   * Takes the channels of a task whose initial response was not terminal; registering it again changes nothing.
   * @param tx the caller's transaction; on SQLite the answer is then no promise
   * @returns a refusal to answer the caller with, where a channel cannot be honoured
   * @throws AdbindError `event_invalid` for a tool the release does not have
   */
  register(start: TaskStart, channels: TaskChannels, tx?: Tx): MaybePromise<Registered>;
  /**
   * Gives a task that goes on A2A's own channel, another one, or none (null). The task is registered where it is not yet.
   * @returns as `register` does
   * @throws AdbindError `event_invalid` for a tool the release does not have
   */
  attach(start: TaskStart, a2a: A2aPushConfig | null, tx?: Tx): MaybePromise<Registered>;
  /** What `attach` or `register` gave a task as A2A's own channel. */
  attached(taskId: string, tx?: Tx): MaybePromise<A2aPushConfig | undefined>;
  /**
   * Records a change of status and stores its event for each channel, in the caller's transaction. A task that was not
   * registered has no channel, and nothing is sent.
   * @throws AdbindError `transition_refused` for a change that cannot be, `event_invalid` for a result the release's schema
   *   refuses; nothing is stored then, and the caller's transaction should not commit either
   */
  update(taskId: string, change: StatusChange, tx?: Tx): MaybePromise<Emitted>;
}

export interface TaskParts<Tx> {
  readonly queue: Queue<Tx>;
  readonly tables: SenderTables<Tx>;
  readonly release: Release;
  readonly validator: Pick<Validator, "arm">;
  readonly rules: RegistrationRules;
  readonly now: () => number;
  readonly uuid: () => string;
}

interface Details {
  readonly push?: PushNotificationConfig;
  readonly a2a?: A2aPushConfig;
  readonly context?: JsonObject;
  readonly contextId?: string;
}

/** A task is remembered this long after its last event, in milliseconds: a repeated change is then still refused. */
const TASK_RETENTION_MS = 90 * 86_400_000;
const MAX_TASK_ID_CHARACTERS = 255;

const answersLater = ["submitted", "working", "input-required"] as const;

const isSyncOnly = (tool: AnyTool): boolean => !answersLater.some((status) => Object.hasOwn(tool.arms, status));

export function createTasks<Tx>(parts: TaskParts<Tx>): Tasks<Tx> {
  const { queue } = parts;
  const registering = eachOf(queue, (tx: Tx, rows: readonly SentTaskRow[]) => registerFlow(parts, tx, rows));
  const updating = eachOf(queue, (tx: Tx, updates: readonly Update[]) => updateFlow(parts, tx, updates));
  return {
    check: (tool, channels) => channelsFault(channels, toolOf(parts.release, tool), parts.rules),
    register(start, channels, tx) {
      if (isTerminal(start.status)) return { ok: true, registered: false };
      const tool = toolOf(parts.release, start.tool);
      const fault = channelsFault(channels, tool, parts.rules);
      if (fault !== undefined) return fault;
      if (channels.push === undefined && channels.a2a === undefined) return { ok: true, registered: false };
      return inTransactionEach(queue, tx, registering, taskRow(parts, start, channels));
    },
    attach(start, a2a, tx) {
      if (isTerminal(start.status)) return { ok: true, registered: false };
      const tool = toolOf(parts.release, start.tool);
      const fault = a2a === null ? undefined : channelsFault({ a2a }, tool, parts.rules);
      return fault ?? inTransaction(queue, tx, (open) => attachFlow(parts, open, start, a2a));
    },
    attached: (taskId, tx) =>
      inTransaction(queue, tx, function* (open): Flow<A2aPushConfig | undefined> {
        const [row] = yield* settle(parts.tables.tasks(open, [taskId]));
        return row === undefined ? undefined : (JSON.parse(row.details) as Details).a2a;
      }),
    update: (taskId, change, tx) => inTransactionEach(queue, tx, updating, { taskId, change }),
  };
}

function toolOf(release: Release, name: string): AnyTool {
  const tool = Object.hasOwn(release.tools, name) ? release.tools[name] : undefined;
  if (tool !== undefined) return tool;
  throw new AdbindError("event_invalid", "the release has no such tool", {
    where: name,
    remedy: `use a tool of release ${release.version}`,
  });
}

function channelsFault({ push, a2a }: TaskChannels, tool: AnyTool, rules: RegistrationRules): Refused | undefined {
  if (push !== undefined) {
    const where = "push_notification_config";
    if (rules.refuse.syncOnlyTools && isSyncOnly(tool)) return refused(`${tool.name} always answers at once`, where);
    if (rules.refuse.withoutOperationId && push.operation_id === undefined) {
      return refused("operation_id is required", `${where}.operation_id`);
    }
    const fault = registrationFault(push, where, tool, rules);
    if (fault !== undefined) return fault;
  }
  if (a2a === undefined) return undefined;
  return registrationFault(a2a, "configuration.pushNotificationConfig", tool, rules);
}

function taskRow<Tx>({ now }: TaskParts<Tx>, start: TaskStart, channels: TaskChannels): SentTaskRow {
  const { taskId, context, contextId } = start;
  if (taskId === "" || taskId.length > MAX_TASK_ID_CHARACTERS || !taskId.isWellFormed() || taskId.includes("\0")) {
    throw new AdbindError("event_invalid", "a task id cannot be used", {
      where: "taskId",
      remedy: `use 1 to ${MAX_TASK_ID_CHARACTERS} characters`,
    });
  }
  const details: Details = {
    ...(channels.push !== undefined && { push: channels.push }),
    ...(channels.a2a !== undefined && { a2a: channels.a2a }),
    ...(context !== undefined && { context }),
    ...(contextId !== undefined && { contextId }),
  };
  return {
    task_id: taskId,
    principal: start.principal,
    tool: start.tool,
    status: start.status,
    instant: new Date(now()).toISOString(),
    details: JSON.stringify(details),
    expires: now() + TASK_RETENTION_MS,
  };
}

function* registerFlow<Tx>(
  { tables }: TaskParts<Tx>,
  tx: Tx,
  rows: readonly SentTaskRow[],
): Flow<PromiseSettledResult<Registered>[]> {
  yield* settle(tables.addTasks(tx, rows));
  return rows.map(() => ({ status: "fulfilled", value: { ok: true, registered: true } }));
}

function* attachFlow<Tx>(
  parts: TaskParts<Tx>,
  tx: Tx,
  start: TaskStart,
  config: A2aPushConfig | null,
): Flow<Registered> {
  const [row] = yield* settle(parts.tables.tasks(tx, [start.taskId]));
  if (row === undefined) {
    if (config === null) return NONE;
    yield* settle(parts.tables.addTasks(tx, [taskRow(parts, start, { a2a: config })]));
    return { ok: true, registered: true };
  }
  if (isTerminal(row.status as TaskStatus)) return NONE;
  const { a2a: _before, ...details } = JSON.parse(row.details) as Details;
  const next: Details = config === null ? details : { ...details, a2a: config };
  yield* settle(parts.tables.setTaskDetails(tx, start.taskId, JSON.stringify(next)));
  return { ok: true, registered: config !== null };
}

const NONE: Registered = { ok: true, registered: false };

interface Update {
  readonly taskId: string;
  readonly change: StatusChange;
}

/** Each is judged by what those before it made of its task; the events of all are written together. */
function* updateFlow<Tx>(
  parts: TaskParts<Tx>,
  tx: Tx,
  updates: readonly Update[],
): Flow<PromiseSettledResult<Emitted>[]> {
  const { tables, queue } = parts;
  const rows = yield* settle(tables.tasks(tx, [...new Set(updates.map(({ taskId }) => taskId))]));
  const tasks = new Map(rows.map((row) => [row.task_id, row]));
  const changed = new Map<string, TaskChange>();
  const made: Delivery[] = [];
  const results = updates.map(({ taskId, change }): PromiseSettledResult<Emitted> => {
    const task = tasks.get(taskId);
    if (task === undefined) return { status: "fulfilled", value: { keys: [] } };
    try {
      const { next, deliveries } = changeOf(parts, task, change);
      tasks.set(taskId, { ...task, ...next });
      changed.set(taskId, next);
      made.push(...deliveries);
      return { status: "fulfilled", value: { keys: deliveries.map(({ key }) => key) } };
    } catch (reason) {
      return { status: "rejected", reason };
    }
  });
  if (changed.size > 0) yield* settle(tables.setTasks(tx, [...changed.values()]));
  yield* settle(enqueue(queue, tx, made));
  return results;
}

function changeOf<Tx>(
  parts: TaskParts<Tx>,
  task: SentTaskRow,
  change: StatusChange,
): { readonly next: TaskChange; readonly deliveries: readonly Delivery[] } {
  const { release, validator } = parts;
  const { task_id: taskId } = task;
  const from = task.status as TaskStatus;
  if (!mayFollow(from, change.status)) {
    throw new AdbindError("transition_refused", `a task that is ${from} cannot become ${change.status}`, {
      where: `task ${taskId}`,
      remedy: `from here it may become ${describeNext(from)}`,
    });
  }
  const tool = toolOf(release, task.tool);
  checkResult(validator, tool, taskId, change);
  const instant = laterThan(task.instant, parts.now());
  return {
    next: { task_id: taskId, status: change.status, instant, expires: parts.now() + TASK_RETENTION_MS },
    deliveries: deliveriesOf(parts, task, tool, change, instant),
  };
}

/** Receivers apply only what is newer: two events of a task never carry one time, whatever the clock does. */
const laterThan = (before: string, now: number): string =>
  new Date(Math.max(now, Date.parse(before) + 1)).toISOString();

function checkResult(
  validator: Pick<Validator, "arm">,
  tool: AnyTool,
  taskId: string,
  { status, result }: StatusChange,
): void {
  if (result == null) {
    if (status !== "completed") return;
    throw new AdbindError("event_invalid", "a completed task has a result", {
      where: `task ${taskId}`,
      remedy: `give the response of ${tool.name}`,
    });
  }
  const object = typeof result === "object" && !Array.isArray(result);
  const judged = !object
    ? { ok: false as const, errors: [{ pointer: "", message: "must be object" }] }
    : Object.hasOwn(tool.arms, status)
      ? validator.arm(tool.name, status as never, result)
      : { ok: true as const };
  if (judged.ok) return;
  const [first] = judged.errors;
  throw new AdbindError("event_invalid", `the result is not what ${tool.name} answers when ${status}`, {
    where: `task ${taskId}, result${first?.pointer ?? ""}: ${first?.message ?? ""}`,
    remedy: "send what the release's schema allows",
  });
}

/** One per channel: each has its own key, and its own order. */
function deliveriesOf<Tx>(
  { uuid }: TaskParts<Tx>,
  task: SentTaskRow,
  tool: AnyTool,
  change: StatusChange,
  timestamp: string,
): Delivery[] {
  const { push, a2a, context, contextId } = JSON.parse(task.details) as Details;
  const event = (key: string): TaskEvent => ({
    key,
    taskId: task.task_id,
    tool: tool.name,
    domain: tool.protocol,
    status: change.status,
    timestamp,
    operationId: push?.operation_id,
    token: undefined,
    contextId,
    context,
    message: change.message,
    result: change.result,
  });
  const base = { principal: task.principal, subject: task.task_id, type: tool.name };
  const where = `task ${task.task_id}`;
  const made: Delivery[] = [];
  if (push !== undefined) {
    const key = uuid();
    const body = encodeBody(mcpEnvelope({ ...event(key), token: push.token }), where);
    made.push({ ...base, key, lane: `task:${task.task_id}`, url: push.url, auth: authOf(push.authentication), body });
  }
  if (a2a !== undefined) {
    const key = uuid();
    const body = encodeBody(a2aEvent(event(key)), where);
    const auth = authOf(a2a.authentication);
    made.push({ ...base, key, lane: `a2a:${task.task_id}`, url: a2a.url, auth, a2aToken: a2a.token, body });
  }
  return made;
}
