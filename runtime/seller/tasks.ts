/** Tasks that outlive their call: kept, changed, told of by webhooks, looked up. */
import canonicalize from "canonicalize";
import {
  type AnyTool,
  isJsonObject,
  isTerminal,
  type JsonObject,
  type Release,
  type TaskStatus,
} from "../contract/index.js";
import { type Coroutine, wait } from "../db/coroutine.js";
import type { Periodic } from "../queue/periodic.js";
import type { A2aPushConfig, TaskChannels, TaskStart } from "../sender/types.js";
import type { SellerTaskRow } from "../store/seller-task.js";
import type { Call } from "../transport/answerer.js";
import { threadMember } from "./continuation.js";
import { LaterRuns, type TaskHold, type TaskRun, type TaskWork } from "./later-work.js";
import { withoutRegistrations } from "./registrations.js";
import {
  changeTask,
  handleOf,
  SELLER_TASK_RETENTION_MS,
  storeChange,
  type TaskRepositoryDependencies,
  unfinishedTask,
} from "./task-changes.js";
import { refusedBy, ToolError } from "./tool-error.js";
import type { TaskHandle, UnfinishedTask } from "./types.js";

export interface NewTask {
  readonly id: string;
  readonly call: Call;
  readonly args: JsonObject;
  /** By its one reference. */
  readonly account: JsonObject | undefined;
  readonly tool: AnyTool;
  readonly release: Release;
  readonly status: TaskStatus;
  readonly payload: JsonObject;
  readonly channels: TaskChannels | undefined;
  /** Where work goes on after the answer. */
  readonly hold?: TaskHold | undefined;
}

/** What a caller's answer makes of its task. */
export interface Advance {
  readonly status: TaskStatus;
  /** As it was answered, without what belongs to the call. */
  readonly data: JsonObject;
  /** The request as it is now. */
  readonly request: JsonObject;
  /** When the question was asked that the call answers (`updated_at`): another may be asked by now. */
  readonly askedAt: number;
  readonly channels?: TaskChannels | undefined;
  /** Where work goes on after the answer. */
  readonly hold?: TaskHold | undefined;
}

/** Who wants a task's id, and whether the task that may have it now has been ordered by a test of his. */
export interface TaskClaim {
  readonly principal: string;
  readonly ordered: boolean;
}

export interface TaskRepository<Tx> {
  /** Keeps a task and registers its webhooks. @throws ToolError where they are refused */
  open(tx: Tx, task: NewTask): Coroutine<void>;
  /**
   * Goes on with a task that waited for its caller. Its channels stay those it has; where it has none, it gets the call's.
   * @throws ToolError CONFLICT where somebody else has gone on with it meanwhile, or the channels are refused
   */
  advance(tx: Tx, taskId: string, change: Advance): Coroutine<void>;
  /** @param principal whose task it must be; anybody's by default */
  handle<T = AnyTool>(taskId: string, principal?: string): TaskHandle<T, Tx>;
  /**
   * Cancels a task.
   * @param from the status that it has to have still
   * @throws AdbindError `transition_refused`, `task_unknown`
   */
  cancel(row: SellerTaskRow, from?: TaskStatus): Promise<void>;
  /** As `freeTaskId`. */
  free(taskId: string, of: TaskClaim): Promise<boolean>;
  /** What goes on after an answer, to be begun once that is stored. */
  later(work: TaskWork<Tx>): TaskRun;
  /** Takes up the work of processes that are gone. */
  readonly resuming: Periodic;
  /** @param principal where nobody else's is of interest: it is looked for in one database then */
  row(taskId: string, principal?: string): Promise<SellerTaskRow | undefined>;
  /** A2A's own channel of a task. @throws ToolError where it is refused */
  attach(row: SellerTaskRow, config: A2aPushConfig | null): Promise<void>;
  attached(taskId: string): Promise<A2aPushConfig | undefined>;
  unfinished(after: number, limit: number): Promise<readonly UnfinishedTask[]>;
  /** Waits for work that goes on after answers, for a while, and keeps hold of it no longer. */
  close(): Promise<void>;
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

export function createTaskRepository<Tx>(dependencies: TaskRepositoryDependencies<Tx>): TaskRepository<Tx> {
  const { database, settings } = dependencies;
  const runs = new LaterRuns(dependencies);
  const handle = <T = AnyTool>(taskId: string, principal?: string): TaskHandle<T, Tx> =>
    handleOf<Tx, T>(dependencies, taskId, { principal });
  return {
    open: (tx, task) => openFlow(dependencies, tx, task),
    advance: (tx, taskId, change) => advanceFlow(dependencies, tx, taskId, change),
    handle,
    cancel: ({ task_id: id, principal }, from) =>
      changeTask(dependencies, id, { status: "canceled", data: {}, principal, from }),
    free: (taskId, of) => freeId(dependencies, taskId, of),
    later: (work) => runs.later(work),
    resuming: runs.resuming,
    async row(taskId, principal) {
      const of = principal === undefined ? { taskId } : { principal };
      const [row] = await database.transact(of, function* (tx): Coroutine<SellerTaskRow[]> {
        return yield* database.tables.task(tx, taskId);
      });
      return row;
    },
    async attach(row, config) {
      const start = startOf(row);
      const answer = await settings.sender?.tasks.attach(start, config);
      if (answer !== undefined && !answer.ok) throw refusedBy(answer.error);
    },
    attached: async (taskId) => settings.sender?.tasks.attached(taskId),
    async unfinished(after, limit) {
      const rows = await database.everywhere(function* (tx): Coroutine<SellerTaskRow[]> {
        return yield* database.tables.unfinished(tx, after, limit);
      });
      const oldest = rows.flat().sort((a, b) => a.created_at - b.created_at || (a.task_id < b.task_id ? -1 : 1));
      return oldest.slice(0, limit).map(unfinishedTask);
    },
    close: () => runs.close(),
  };
}

function* openFlow<Tx>(
  { settings, database, plug }: TaskRepositoryDependencies<Tx>,
  tx: Tx,
  task: NewTask,
): Coroutine<void> {
  const { id, call, args, account, tool, release, status, payload, channels, hold } = task;
  const { principal } = call.identity;
  const contextId = call.contextId ?? text(threadMember(call, release, id).context_id);
  const at = settings.now();
  const row = {
    task_id: id,
    principal,
    account: account === undefined ? null : (canonicalize(account) ?? null),
    tool: tool.name,
    protocol: tool.protocol,
    release: release.version,
    status,
    created_at: at,
    updated_at: at,
    completed_at: null,
    has_webhook: channels === undefined ? 0 : 1,
    context: json(isJsonObject(args.context) ? args.context : undefined),
    context_id: contextId ?? null,
    request: JSON.stringify(withoutRegistrations(args)),
    message: text(payload.message) ?? null,
    progress: json(interimOf(payload)),
    result: null,
    resource: plug.subjectOf(args) ?? null,
    expires: at + SELLER_TASK_RETENTION_MS,
    worker: hold?.worker ?? null,
    resumptions: 0,
  };
  if ((yield* database.tables.addTask(tx, row, hold?.ms ?? null)).length === 0)
    throw new ToolError("CONFLICT", `There is a task ${id} already.`);
  const start = startOf(row);
  if (settings.sender !== undefined && channels !== undefined) {
    const registered = yield* wait(settings.sender.tasks.register(start, channels, { tx: tx as object }));
    if (!registered.ok) throw refusedBy(registered.error);
  }
  yield* plug.hold(tx, start, args);
}

async function freeId<Tx>(
  { settings, database }: TaskRepositoryDependencies<Tx>,
  taskId: string,
  { principal, ordered }: TaskClaim,
): Promise<boolean> {
  const { sender, mode } = settings;
  const freed = await database.transact({ principal }, function* (tx): Coroutine<"free" | "freed" | "taken"> {
    const [row] = yield* database.tables.task(tx, taskId);
    if (row === undefined) return "free";
    if (!ordered || mode !== "development" || row.principal !== principal) return "taken";
    yield* database.tables.dropTask(tx, taskId);
    if (sender !== undefined) yield* wait(sender.tasks.forget(taskId, principal, { tx: tx as object }));
    return "freed";
  });
  // What still waits to be told of it would be taken for news of the next task of that id.
  if (freed === "freed" && sender !== undefined)
    for (const { id } of await sender.outbox.list({ task: taskId, principal })) await sender.outbox.drop(id);
  return freed !== "taken";
}

function* advanceFlow<Tx>(
  dependencies: TaskRepositoryDependencies<Tx>,
  tx: Tx,
  taskId: string,
  change: Advance,
): Coroutine<void> {
  const { database, settings, plug } = dependencies;
  const [row] = yield* database.tables.task(tx, taskId);
  if (row?.status !== "input-required" || row.updated_at !== change.askedAt) {
    const message = `Task ${taskId} has been gone on with meanwhile, and asks nothing any more, or something else.`;
    throw new ToolError("CONFLICT", message, { recovery: "correctable" });
  }
  const { status, data, request, channels, hold } = change;
  if (settings.sender !== undefined && channels !== undefined && row.has_webhook === 0) {
    const registered = yield* wait(settings.sender.tasks.register(startOf(row), channels, { tx: tx as object }));
    if (!registered.ok) throw refusedBy(registered.error);
  }
  yield* plug.hold(tx, startOf(row), request);
  const { message, ...rest } = data;
  const over = isTerminal(status);
  yield* storeChange(
    dependencies,
    tx,
    {
      ...row,
      ...hold,
      request: JSON.stringify(withoutRegistrations(request)),
      has_webhook: channels ? 1 : row.has_webhook,
    },
    {
      status,
      data: over ? data : interimOf(rest),
      ...(!over && typeof message === "string" && { message }),
    },
  );
}

/** A stored task as the sender knows it. */
const startOf = (row: Omit<SellerTaskRow, "held_until">): TaskStart => ({
  taskId: row.task_id,
  tool: row.tool,
  status: row.status as TaskStatus,
  principal: row.principal,
  ...{ release: row.release, at: row.updated_at },
  ...(row.context !== null && { context: JSON.parse(row.context) as JsonObject }),
  ...(row.context_id !== null && { contextId: row.context_id }),
});

/** What an interim answer says of the task, without the envelope. */
const interimOf = ({
  status: _s,
  task_id: _t,
  context: _c,
  context_id: _i,
  message: _m,
  ...rest
}: JsonObject): JsonObject => rest;
