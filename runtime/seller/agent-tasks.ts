/** A seller's tasks as transports ask for them. */
import { isTerminal, type JsonObject, type TaskStatus } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import type { SellerDatabase, TaskFilter } from "../store/seller-tables.js";
import type { SellerTaskRow } from "../store/seller-task.js";
import type { AgentTask, AgentTasks, NativePushes, TaskQuery } from "../transport/answerer.js";
import type { SellerSettings } from "./settings.js";
import { unfinishedTask } from "./task-changes.js";
import { pagePlace, readTasks } from "./task-pages.js";
import type { TaskRepository } from "./tasks.js";
import { ToolError } from "./tool-error.js";

export interface AgentTasksDependencies<Tx> {
  readonly repository: TaskRepository<Tx>;
  readonly database: SellerDatabase<Tx>;
  readonly settings: Pick<SellerSettings<Tx>, "sender" | "cancelTask">;
}

export function agentTasks<Tx>({ repository, database, settings }: AgentTasksDependencies<Tx>): AgentTasks {
  return {
    async find(id, { principal }) {
      const row = await repository.row(id, principal);
      return row === undefined || row.principal !== principal ? undefined : agentTask(row);
    },
    async list({ principal }, query) {
      const { token, limit } = query;
      const order = { order: "updated_at", descending: true } as const;
      const after = token === undefined ? undefined : pagePlace(token, order);
      if (token !== undefined && after === undefined) return undefined;
      const { rows, total, next } = await readTasks(database, filterOf(principal, query), { ...order, after, limit });
      return { tasks: rows.map(agentTask), total, next };
    },
    async cancel({ id }) {
      const row = await repository.row(id);
      if (row === undefined) return "it is gone";
      if (isTerminal(row.status as TaskStatus)) return "it is over";
      const { cancelTask } = settings;
      const mayGo = cancelTask === undefined ? row.status === "input-required" : await cancelTask(unfinishedTask(row));
      if (!mayGo) return `work on it is under way; change what it makes with the tool for that`;
      try {
        // Without word from the seller only the question can go: it may be answered by now, and its work be under way.
        await repository.cancel(row, cancelTask === undefined ? "input-required" : undefined);
        return undefined;
      } catch (error) {
        // What else it may be is the seller's own: the words of a database name its host.
        if (error instanceof AdbindError && refusals.includes(error.code)) return error.message;
        throw error;
      }
    },
    push: settings.sender === undefined ? undefined : nativePushes(repository),
  };
}

/** What a change of a task is refused with. */
const refusals: readonly string[] = ["transition_refused", "task_unknown", "event_invalid"];

const filterOf = (principal: string, { contextId, status, since }: TaskQuery): TaskFilter => ({
  principal,
  ...(contextId !== undefined && { contextId }),
  ...(status !== undefined && { in: { status: [status] } }),
  // The bound is exclusive.
  ...(since !== undefined && { after: { updated_at: since - 1 } }),
});

function agentTask(row: SellerTaskRow): AgentTask {
  const text = row.result ?? row.progress;
  const data = text === null ? {} : (JSON.parse(text) as JsonObject);
  const context = row.context === null ? {} : { context: JSON.parse(row.context) };
  const stored = row.status as TaskStatus;
  // A seller that has declined has answered: its transport's task is done.
  const status = stored === "rejected" && data.errors === undefined && data.status === stored ? "completed" : stored;
  return {
    id: row.task_id,
    tool: row.tool,
    status,
    contextId: row.context_id ?? row.task_id,
    data: isTerminal(status) ? { ...data, ...context } : { status, task_id: row.task_id, ...data, ...context },
    updatedAt: row.updated_at,
  };
}

const nativePushes = <Tx>(repository: TaskRepository<Tx>): NativePushes => ({
  async attach({ id }, config) {
    const row = await repository.row(id);
    if (row === undefined) return `there is no task ${id}`;
    try {
      await repository.attach(row, config);
      return undefined;
    } catch (error) {
      if (error instanceof ToolError) return error.message;
      throw error;
    }
  },
  attached: repository.attached,
});
