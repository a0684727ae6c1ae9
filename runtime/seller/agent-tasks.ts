/** A seller's tasks as transports ask for them. */
import { isTerminal, type JsonObject, type TaskStatus } from "../contract/index.js";
import type { SellerTaskRow } from "../store/seller-tables.js";
import type { AgentTask, AgentTasks, NativePushes } from "../transport/answerer.js";
import type { TaskBook } from "./tasks.js";
import { ToolError } from "./tool-error.js";

/** @param sends whether there is a sender of webhooks */
export function agentTasks<Tx>(book: TaskBook<Tx>, sends: boolean): AgentTasks {
  return {
    async find(id, { principal }) {
      const row = await book.row(id);
      return row === undefined || row.principal !== principal ? undefined : agentTask(row);
    },
    push: sends ? nativePushes(book) : undefined,
  };
}

function agentTask(row: SellerTaskRow): AgentTask {
  const text = row.result ?? row.progress;
  const data = text === null ? {} : (JSON.parse(text) as JsonObject);
  const context = row.context === null ? {} : { context: JSON.parse(row.context) };
  const status = row.status as TaskStatus;
  return {
    id: row.task_id,
    tool: row.tool,
    status,
    contextId: row.context_id ?? row.task_id,
    data: isTerminal(status) ? { ...data, ...context } : { status, task_id: row.task_id, ...data, ...context },
    updatedAt: row.updated_at,
  };
}

const nativePushes = <Tx>(book: TaskBook<Tx>): NativePushes => ({
  async attach({ id }, config) {
    const row = await book.row(id);
    if (row === undefined) return `there is no task ${id}`;
    try {
      await book.attach(row, config);
      return undefined;
    } catch (error) {
      if (error instanceof ToolError) return error.message;
      throw error;
    }
  },
  attached: book.attached,
});
