/** What goes on after an answer: one process has it while it goes on, and another takes it up once that process is gone. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { AnyTool } from "../contract/index.js";
import { Aside } from "../queue/aside.js";
import { createPeriodic, type Periodic, tellLog } from "../queue/periodic.js";
import type { HeldTask } from "../store/held-tasks.js";
import type { SellerTaskRow } from "../store/seller-task.js";
import { ownError } from "./own-error.js";
import { checkReply } from "./reply.js";
import { handleOf, type TaskRepositoryDependencies, unfinishedTask } from "./task-changes.js";
import { ToolError } from "./tool-error.js";
import type { Declined, LaterWork, SellerError, SellerOptions, TaskHandle } from "./types.js";

/** How long work is its process's without news of it, in milliseconds; renewed at a third. */
const LEASE_MS = 30_000;
/** Between two looks for what processes that are gone have left, in milliseconds, and as much again at most: instances drift apart. */
const LOOK_MS = 5_000;
/** Runs that are taken up here at a time. */
const RESUMED_AT_ONCE = 16;
/** A task that ends whatever process takes it up is left to people after so many. */
const MOST_RESUMPTIONS = 8;
/** Work that has gone on for so long ends no process that takes it up, in milliseconds: those before it were only stopped. */
const HARMLESS_MS = 600_000;
/** Longest wait for work when a seller closes, in milliseconds: some of it takes days, and is taken up again elsewhere. */
const IDLE_MS = 5_000;

/** A run of work, as its task names it. */
export interface TaskHold {
  readonly worker: string;
  /** For how long from its beginning, in milliseconds, unless it is renewed. */
  readonly ms: number;
}

/** The work of a task, and whose it is. */
export interface TaskWork<Tx> {
  readonly taskId: string;
  readonly principal: string;
  readonly tool: AnyTool;
  readonly work: LaterWork<AnyTool, Tx>;
}

/** Work of a task that this process is about to begin. */
export interface TaskRun {
  /** What the task is stored with. */
  readonly hold: TaskHold;
  /** Begins it, and ends the task with what it comes to. */
  begin(): void;
}

type HeldWork<Tx> = TaskWork<Tx> & HeldTask;

export interface LaterOptions {
  /** How often a process renews what it has, in milliseconds; a third of the time that a lease lasts by default. */
  readonly renewMs?: number;
}

export class LaterRuns<Tx> {
  readonly #running = new Aside();
  /** What keeps hold of the tasks that are at work here. */
  readonly #here = new Map<string, Periodic>();
  #resumed = 0;
  /** Takes up what processes that are gone have left, where the application says how. */
  readonly resuming: Periodic;

  constructor(
    readonly dependencies: TaskRepositoryDependencies<Tx>,
    readonly options: LaterOptions = {},
  ) {
    this.resuming = createPeriodic({
      pauseMs: () => LOOK_MS * (1 + Math.random()),
      steps: [
        {
          name: "take up the tasks of processes that are gone",
          meanwhile: "what they were at work on waits",
          run: (stopping) => this.#look(stopping),
        },
      ],
      telling: tellLog(dependencies.settings.logger),
    });
  }

  /** Work after an answer, to be begun once that is stored. */
  later(work: TaskWork<Tx>): TaskRun {
    const worker = randomUUID();
    return { hold: { worker, ms: LEASE_MS }, begin: () => this.#begin({ ...work, worker }) };
  }

  /** Waits for work under way, for a while; what goes on then is kept hold of no longer: another process takes it up. */
  async close(): Promise<void> {
    const patience = new AbortController();
    const enough = sleep(IDLE_MS, undefined, { signal: patience.signal, ref: false }).catch(() => undefined);
    await Promise.race([this.#running.ended(), enough]);
    patience.abort();
    await Promise.all([...this.#here.values()].map((renewal) => renewal.stop()));
  }

  /** @param ms null where it is given up */
  #hold(of: HeldTask & { readonly principal: string }, ms: number | null, harmless = false): Promise<unknown> {
    const { tables, transact } = this.dependencies.database;
    return transact({ principal: of.principal }, (tx) => tables.holdTask(tx, of, ms, harmless));
  }

  /** @param ended called when it is over, whatever it came to */
  #begin(run: HeldWork<Tx>, ended: () => void = () => undefined): void {
    const { logger } = this.dependencies.settings;
    const { taskId } = run;
    this.#running.add(this.#held(run).finally(ended), (error) =>
      logger?.error({ err: error, taskId }, "a task's work ended unheard"),
    );
  }

  async #held(run: HeldWork<Tx>): Promise<void> {
    const since = performance.now();
    const renewal = createPeriodic({
      pauseMs: this.options.renewMs ?? LEASE_MS / 3,
      firstPause: true,
      steps: [
        {
          name: "keep hold of a task",
          meanwhile: "another process may take its work up once its lease is over",
          run: () => this.#hold(run, LEASE_MS, performance.now() - since >= HARMLESS_MS),
        },
      ],
      telling: tellLog(this.dependencies.settings.logger),
    });
    this.#here.set(run.taskId, renewal);
    renewal.start();
    try {
      await later(this.dependencies, run);
    } finally {
      if (this.#here.get(run.taskId) === renewal) this.#here.delete(run.taskId);
      await renewal.stop();
      await this.#hold(run, null);
    }
  }

  async #look(stopping: AbortSignal): Promise<void> {
    const { database, settings } = this.dependencies;
    const room = RESUMED_AT_ONCE - this.#resumed;
    const { resume } = settings;
    if (resume === undefined || room <= 0) return;
    const found = await database.everywhere((tx) => database.tables.abandonedTasks(tx, LEASE_MS, room));
    for (const row of found.flat().slice(0, room)) if (!stopping.aborted) await this.#takeUp(row, resume);
  }

  async #takeUp(found: SellerTaskRow, resume: NonNullable<SellerOptions["resume"]>): Promise<void> {
    const { database, settings } = this.dependencies;
    const { task_id: taskId, principal } = found;
    // Its renewals could not be written for a while.
    if (this.#here.has(taskId)) return;
    const worker = randomUUID();
    const take = (tx: Tx) => database.tables.takeTask(tx, found, worker, LEASE_MS);
    const [row] = await database.transact({ principal }, take);
    if (row === undefined) return;
    const tool = toolOf(this.dependencies, row);
    if (row.resumptions > MOST_RESUMPTIONS || tool === undefined) {
      const why =
        tool === undefined ? "no release served has its tool" : "whatever took it up was gone before it ended";
      const of = { taskId, tool: row.tool, resumptions: row.resumptions - 1 };
      settings.logger?.error(of, `a task is left to people: ${why}`);
      await this.#hold({ taskId, worker, principal }, null);
      return;
    }
    this.#resumed += 1;
    const work = (task: TaskHandle<AnyTool, Tx>) => resume(unfinishedTask(row), task);
    this.#begin({ taskId, worker, principal, tool, work }, () => (this.#resumed -= 1));
  }
}

/** The tool whose answers end a task, in the release that those are written in. */
function toolOf<Tx>(
  { servedReleases }: TaskRepositoryDependencies<Tx>,
  { release, tool }: SellerTaskRow,
): AnyTool | undefined {
  const own = servedReleases.find((one) => one.release.version === release) ?? servedReleases[0]!;
  return Object.hasOwn(own.release.tools, tool) ? own.release.tools[tool] : undefined;
}

/** What goes wrong after the answer has been given ends the task: the caller waits for it. */
async function later<Tx>(
  dependencies: TaskRepositoryDependencies<Tx>,
  { taskId, principal, worker, tool, work }: HeldWork<Tx>,
): Promise<void> {
  const { settings, servedReleases } = dependencies;
  const task = handleOf<Tx>(dependencies, taskId, { principal, worker });
  try {
    const reply: unknown = await work(task);
    if (reply !== undefined) await moveOn(task, tool, reply);
  } catch (error) {
    const refusal = error instanceof ToolError ? error.error : undefined;
    if (refusal === undefined) settings.logger?.error({ err: error, taskId: task.id }, "a task's work failed");
    const told =
      refusal ??
      ownError(error, `The task could not be carried out; its reference is ${task.id}.`, servedReleases[0]!.release);
    await task.fail(told).catch((second) => settings.logger?.error({ err: second, taskId: task.id }, "nor did it end"));
  }
}

/** What work after an answer came to: a reply as of a handler, and no less checked, since nobody else looks at the task again. */
async function moveOn<Tx>(task: TaskHandle<AnyTool, Tx>, tool: AnyTool, reply: unknown): Promise<void> {
  const { status, data } = checkReply(reply, tool);
  const { errors = [] } = data as { errors?: SellerError[] };
  switch (status) {
    case "completed":
      return task.complete(data);
    case "failed":
      return task.fail(errors);
    case "rejected":
      // One without errors says why the seller declines.
      return task.reject(data.errors === undefined ? (data as Declined) : errors);
    case "canceled":
      return task.cancel();
    case "working":
      return (task.working as (data: typeof reply) => Promise<void>)(data);
    case "input-required":
      return (task.inputRequired as (data: typeof reply) => Promise<void>)(data);
    case "submitted":
      throw new TypeError(`the work of ${tool.name} went back to submitted: let it end its task, or go on with it`);
  }
}
