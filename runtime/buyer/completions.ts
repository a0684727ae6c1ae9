/** How tasks ended or what they ask, as the receiver's handlers of this process were told: `waitForCompletion` then need not ask the seller. */
import { isTaskStatus, isTerminal } from "../contract/index.js";
import { isJsonObject, member } from "../extract/json-object.js";

/** Tasks remembered: a task is waited for by few, and each end is asked for at once. */
const MAX_TASKS = 1_000;

/** What of a delivery is read; every handler of a receiver gets one as its last argument. */
interface Delivered {
  readonly sender: string;
  readonly kind: string;
  readonly taskId: string | null;
  readonly body: unknown;
}

/** The ends of tasks and what they ask, for those who wait for them. */
export interface Completions {
  /** The handlers given, with their ends remembered: `createReceiver({handlers: endings.through(handlers)})`. */
  through<H extends object>(handlers: H): H;
  /** The webhook a task ended with, or by which it asks something, as it came. */
  find(sender: string, taskId: string): unknown;
  /** Calls `told` after each such webhook of a task. @returns what ends that */
  listen(sender: string, taskId: string, told: () => void): () => void;
  /** Forgets what a task has asked: it is being answered. */
  answered(sender: string, taskId: string): void;
}

const isDelivered = (value: unknown): value is Delivered =>
  isJsonObject(value) && typeof value.sender === "string" && "body" in value && "taskId" in value;

/** Makes what carries the ends of tasks from a receiver's handlers to a buyer's calls. */
export function createCompletions(): Completions {
  const last = new Map<string, unknown>();
  const listeners = new Map<string, Set<() => void>>();
  const see = (delivery: unknown): void => {
    if (!isDelivered(delivery) || delivery.kind !== "task" || delivery.taskId === null) return;
    const status = member(delivery.body, "status");
    if (!isTaskStatus(status)) return;
    const task = `${delivery.sender} ${delivery.taskId}`;
    // What was asked before it went on is asked no more.
    last.delete(task);
    if (!isTerminal(status) && status !== "input-required") return;
    last.set(task, delivery.body);
    const [oldest] = last.keys();
    if (last.size > MAX_TASKS && oldest !== undefined) last.delete(oldest);
    for (const told of listeners.get(task) ?? []) told();
  };
  const wrap = (value: unknown): unknown => {
    if (typeof value === "function") {
      return (...args: unknown[]) => {
        see(args.at(-1));
        return value(...args);
      };
    }
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, wrap(one)]));
  };
  return {
    through: (handlers) => wrap(handlers) as typeof handlers,
    find: (sender, taskId) => last.get(`${sender} ${taskId}`),
    listen(sender, taskId, told) {
      const task = `${sender} ${taskId}`;
      const of = listeners.get(task) ?? new Set();
      listeners.set(task, of.add(told));
      return () => {
        of.delete(told);
        if (of.size === 0) listeners.delete(task);
      };
    },
    answered(sender, taskId) {
      const task = `${sender} ${taskId}`;
      if (member(last.get(task), "status") === "input-required") last.delete(task);
    },
  };
}
