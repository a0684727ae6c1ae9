/** Changes of a task: each durable, judged by the release, and told of by webhooks in the same transaction. */
import { type AnyTool, isTerminal, type JsonObject, type TaskStatus } from "../contract/index.js";
import { type Coroutine, wait } from "../db/coroutine.js";
import { AdbindError } from "../errors.js";
import type { SellerDatabase } from "../store/seller-tables.js";
import type { SellerTaskRow } from "../store/seller-task.js";
import { inCallersRelease, isDeclined } from "./answer.js";
import type { CallPlug } from "./call-plug.js";
import { errorList } from "./context.js";
import { refusalErrors } from "./failed-call.js";
import { statusMember } from "./reply.js";
import type { ServedRelease } from "./served-releases.js";
import type { SellerSettings } from "./settings.js";
import { failurePayload } from "./tool-error.js";
import type { ChangeOptions, Declined, SellerError, TaskHandle, UnfinishedTask } from "./types.js";

/** A change of a task, as a handle asks for it. */
export interface Change<Tx> extends ChangeOptions<Tx> {
  readonly status: TaskStatus;
  readonly data: JsonObject;
  readonly principal?: string | undefined;
  /** The status that the task has to have still: whoever asks has decided by it. */
  readonly from?: TaskStatus | undefined;
  /** The run of work that asks: another one may have taken the task up. */
  readonly worker?: string | undefined;
}

export interface TaskRepositoryDependencies<Tx> {
  readonly plug: CallPlug<Tx>;
  readonly settings: SellerSettings<Tx>;
  readonly database: SellerDatabase<Tx>;
  readonly servedReleases: readonly ServedRelease<Tx>[];
}

/** A task is kept this long after its last change, in milliseconds. */
export const SELLER_TASK_RETENTION_MS = 90 * 86_400_000;

/** docs/protocol/tasks.md#transitions: nothing follows an end, and only `working` follows itself. */
const mayFollow = (from: TaskStatus, to: TaskStatus): boolean => !isTerminal(from) && (from !== to || to === "working");

const unknownTask = (taskId: string): AdbindError =>
  new AdbindError("task_unknown", "there is no such task", {
    where: taskId,
    remedy: "use the id a submitted answer gave",
  });

function* changeFlow<Tx>(
  dependencies: TaskRepositoryDependencies<Tx>,
  tx: Tx,
  taskId: string,
  change: Change<Tx>,
): Coroutine<void> {
  const { database, servedReleases } = dependencies;
  const [row] = yield* database.tables.task(tx, taskId);
  if (row === undefined || (change.principal ?? row.principal) !== row.principal) throw unknownTask(taskId);
  const from = row.status as TaskStatus;
  if (!mayFollow(from, change.status) || (change.from ?? from) !== from) {
    throw new AdbindError("transition_refused", `a task that is ${from} cannot become ${change.status}`, {
      where: `task ${taskId}`,
      remedy: isTerminal(from) ? "leave it: the task is over" : "give another status",
    });
  }
  if (change.worker !== undefined && change.worker !== row.worker)
    throw new AdbindError("transition_refused", "another process has taken the task's work up", {
      where: `task ${taskId}`,
      remedy: "leave it to that one: this one was not heard of for too long",
    });
  const own = servedReleases.find(({ release }) => release.version === row.release) ?? servedReleases[0]!;
  const data = dataOf(dependencies.settings, own, row, change);
  yield* storeChange(dependencies, tx, row, { ...change, data });
}

/** Stores a change that has been judged, with its effect, and tells of it. A task that asks once more has not changed its status. */
export function* storeChange<Tx>(
  dependencies: TaskRepositoryDependencies<Tx>,
  tx: Tx,
  row: SellerTaskRow,
  change: Omit<Change<Tx>, "principal">,
): Coroutine<void> {
  const { settings, database } = dependencies;
  const { data, status, message } = change;
  const over = isTerminal(status);
  const at = Math.max(settings.now(), row.updated_at + 1);
  yield* database.tables.setTask(tx, {
    ...row,
    status,
    updated_at: at,
    completed_at: over ? at : null,
    message: message ?? null,
    progress: over ? row.progress : JSON.stringify(data),
    result: over ? JSON.stringify(data) : null,
    resource: dependencies.plug.subjectOf(data) ?? row.resource,
    expires: at + SELLER_TASK_RETENTION_MS,
    ...(over && { worker: null, held_until: null }),
  });
  if (change.effect !== undefined) yield* wait(change.effect(tx));
  const told = { status, result: data, ...(message !== undefined && { message }) };
  if (settings.sender !== undefined && !(status === "input-required" && row.status === status))
    yield* wait(settings.sender.tasks.update(row.task_id, told, { tx: tx as object, principal: row.principal, at }));
  if (status !== "completed") return;
  const args = JSON.parse(row.request ?? "{}") as JsonObject;
  const { tool, principal, release, task_id: taskId } = row;
  yield* dependencies.plug.keep(tx, { tool, principal, release, args, payload: data, taskId });
}

/**
 * Data of a change as it is stored and sent.
 * @throws AdbindError `event_invalid` where the release's schema refuses it
 */
function dataOf<Tx>(
  settings: SellerSettings<Tx>,
  servedRelease: ServedRelease<Tx>,
  { tool: name, task_id: taskId }: Pick<SellerTaskRow, "tool" | "task_id">,
  change: Change<Tx>,
): JsonObject {
  const { release, validator } = servedRelease;
  const { status } = change;
  const tool = Object.hasOwn(release.tools, name) ? release.tools[name] : undefined;
  if (status === "failed" || status === "rejected") {
    const { errors: _, ...said } = change.data;
    const declined = { status, ...change.data };
    if (status === "rejected" && tool !== undefined && isDeclined(servedRelease, tool, change.data, {}))
      return declined;
    return failurePayload(refusalErrors(change.data, taskId, release), release, said);
  }
  if (tool === undefined) return change.data;
  const payload = { ...statusMember(servedRelease, name, status), ...change.data };
  if (!Object.hasOwn(tool.arms, status)) {
    throw new AdbindError("event_invalid", `${name} has no answer ${status}`, {
      where: `release ${release.version}`,
      remedy: `use one of ${Object.keys(tool.arms).join(", ")}`,
    });
  }
  if (status === "canceled") return payload;
  const data = inCallersRelease(settings, servedRelease, tool, { status, payload });
  const judged = validator.arm(name, status, data);
  if (judged.ok) return data;
  const [first] = judged.errors;
  throw new AdbindError("event_invalid", `the data is not what ${name} answers when ${status}`, {
    where: `${first?.pointer ?? ""}: ${first?.message ?? ""}`,
    remedy: "send what the release's schema allows",
  });
}

/** One change, in a transaction of its own. @throws AdbindError `task_unknown`, `transition_refused`, `event_invalid` */
export const changeTask = <Tx>(
  dependencies: TaskRepositoryDependencies<Tx>,
  taskId: string,
  change: Change<Tx>,
): Promise<void> => {
  const { principal } = change;
  return dependencies.database.transact(principal === undefined ? { taskId } : { principal }, (tx) =>
    changeFlow(dependencies, tx, taskId, change),
  );
};

const isDeclining = (refusal: SellerError | readonly SellerError[] | Declined): refusal is Declined =>
  !Array.isArray(refusal) && (refusal as Partial<SellerError>).code === undefined;

/** @param of whose task it must be, anybody's where it is left out, and which run of work asks */
export function handleOf<Tx, T = AnyTool>(
  dependencies: TaskRepositoryDependencies<Tx>,
  taskId: string,
  of: Pick<Change<Tx>, "principal" | "worker">,
): TaskHandle<T, Tx> {
  const change = (status: TaskStatus, data: unknown, more: ChangeOptions<Tx> = {}): Promise<void> =>
    changeTask(dependencies, taskId, { ...more, status, data: (data ?? {}) as JsonObject, ...of });
  const handle: TaskHandle<AnyTool, Tx> = {
    id: taskId,
    working: (progress?: unknown, more?: ChangeOptions<Tx>) => change("working", progress, more),
    inputRequired: (data?: unknown, more?: ChangeOptions<Tx>) => change("input-required", data, more),
    complete: (data: unknown, more?: ChangeOptions<Tx>) => change("completed", data, more),
    fail: (errors: SellerError | readonly SellerError[], more?: ChangeOptions<Tx>) =>
      change("failed", { errors: errorList(errors) }, more),
    reject: (refusal: SellerError | readonly SellerError[] | Declined, more?: ChangeOptions<Tx>) =>
      change("rejected", isDeclining(refusal) ? refusal : { errors: errorList(refusal) }, more),
    cancel: (more?: ChangeOptions<Tx>) => change("canceled", {}, more),
  };
  // What differs by tool is the types of the data, which the release's schemas judge in `dataOf`.
  return handle;
}

/** A stored task as the application is shown it. */
export const unfinishedTask = (row: SellerTaskRow): UnfinishedTask => ({
  id: row.task_id,
  tool: row.tool,
  status: row.status as TaskStatus,
  principal: row.principal,
  request: JSON.parse(row.request ?? "{}") as JsonObject,
  createdAt: row.created_at,
  ...(row.held_until !== null && { heldUntil: row.held_until }),
});
