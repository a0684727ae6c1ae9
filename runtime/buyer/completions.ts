/** How tasks ended, as the receiver's handlers of this process were told: `waitForCompletion` then need not ask the seller. */
import { isTaskStatus, isTerminal } from "../contract/index.js";
import { isJsonObject, member } from "../extract/json-object.js";

/** Ends remembered: a task is waited for by few, and each end is asked for at once. */
const MAX_ENDS = 1_000;

/** What of a delivery is read; every handler of a receiver gets one as its last argument. */
interface Delivered {
  readonly sender: string;
  readonly kind: string;
  readonly taskId: string | null;
  readonly body: unknown;
}

/** The ends of tasks, for those who wait for them. */
export interface Completions {
  /** The handlers given, with their ends remembered: `createReceiver({handlers: endings.through(handlers)})`. */
  through<H extends object>(handlers: H): H;
  /** The webhook a task ended with, as it came. */
  find(sender: string, taskId: string): unknown;
}

const isDelivered = (value: unknown): value is Delivered =>
  isJsonObject(value) && typeof value.sender === "string" && "body" in value && "taskId" in value;

/** Makes what carries the ends of tasks from a receiver's handlers to a buyer's calls. */
export function createCompletions(): Completions {
  const ends = new Map<string, unknown>();
  const see = (delivery: unknown): void => {
    if (!isDelivered(delivery) || delivery.kind !== "task" || delivery.taskId === null) return;
    const status = member(delivery.body, "status");
    if (!isTaskStatus(status) || !isTerminal(status)) return;
    ends.set(`${delivery.sender} ${delivery.taskId}`, delivery.body);
    const [oldest] = ends.keys();
    if (ends.size > MAX_ENDS && oldest !== undefined) ends.delete(oldest);
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
    find: (sender, taskId) => ends.get(`${sender} ${taskId}`),
  };
}
