/** How tasks ended or what they ask, as the receiver's handlers of this process were told: `waitForCompletion` then need not ask the seller. */
import { isTaskStatus, isTerminal, type TaskStatus } from "../contract/index.js";
import { isJsonObject } from "../extract/json-object.js";
import { toldEnvelope } from "./told-envelope.js";

/** Names of tasks remembered: a task is waited for by few, and each end is asked for at once. */
const MAX_NAMES = 2_000;

/** What of a delivery is read; every handler of a receiver gets one as its last argument. */
interface Delivered {
  readonly sender: string;
  readonly kind: string;
  readonly taskId: string | null;
  readonly operationId: string | null;
  readonly body: unknown;
}

/** A task as its webhooks name it: by the agent's id, and by the operation of the call, which stays where that one differs. */
interface AwaitedTask {
  readonly sender: string;
  readonly taskId: string | null;
  readonly operationId?: string | null | undefined;
}

/** The ends of tasks and what they ask, for those who wait for them. */
export interface Completions {
  /** The handlers given, with their ends remembered: `createReceiver({handlers: endings.through(handlers)})`. */
  through<H extends object>(handlers: H): H;
  /** The webhook a task ended with, or by which it asks something, as it came. */
  find(task: AwaitedTask): unknown;
  /** Calls `told` after each such webhook of a task. @returns what ends that */
  listen(task: AwaitedTask, told: () => void): () => void;
  /** Forgets what a task has asked: it is being answered. */
  answered(task: AwaitedTask): void;
}

const isDelivered = (value: unknown): value is Delivered =>
  isJsonObject(value) && typeof value.sender === "string" && "body" in value && "taskId" in value;

/** Its names, the surest first. */
const namesOf = ({ sender, taskId, operationId }: AwaitedTask): readonly string[] => [
  ...(operationId == null ? [] : [`${sender} operation ${operationId}`]),
  ...(taskId === null ? [] : [`${sender} task ${taskId}`]),
];

interface Remembered {
  readonly body: unknown;
  readonly status: TaskStatus;
  readonly names: readonly string[];
}

/** Makes what carries the ends of tasks from a receiver's handlers to a buyer's calls. */
export function createCompletions(): Completions {
  const last = new Map<string, Remembered>();
  const listeners = new Map<string, Set<() => void>>();
  const lastOf = (task: AwaitedTask): Remembered | undefined =>
    namesOf(task)
      .map((name) => last.get(name))
      .find((told) => told !== undefined);
  const see = (delivery: unknown): void => {
    if (!isDelivered(delivery) || delivery.kind !== "task") return;
    const status = toldEnvelope(delivery.body)?.status;
    if (!isTaskStatus(status)) return;
    const names = namesOf(delivery);
    // What was asked before it went on is asked no more.
    for (const name of names) last.delete(name);
    if (!isTerminal(status) && status !== "input-required") return;
    for (const name of names) {
      last.set(name, { body: delivery.body, status, names });
      const [oldest] = last.keys();
      if (last.size > MAX_NAMES && oldest !== undefined) last.delete(oldest);
    }
    for (const told of new Set(names.flatMap((name) => [...(listeners.get(name) ?? [])]))) told();
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
    find: (task) => lastOf(task)?.body,
    listen(task, told) {
      const names = namesOf(task);
      for (const name of names) listeners.set(name, (listeners.get(name) ?? new Set()).add(told));
      return () => {
        for (const name of names) {
          listeners.get(name)?.delete(told);
          if (listeners.get(name)?.size === 0) listeners.delete(name);
        }
      };
    },
    answered(task) {
      const told = lastOf(task);
      if (told?.status === "input-required") for (const name of told.names) last.delete(name);
    },
  };
}
