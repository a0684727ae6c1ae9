/** Statuses of a task (docs/protocol/tasks.md#statuses): the one list of them. */

/** Statuses a task has before it ends; the order is that of its life. */
export const interimStatuses = ["submitted", "working", "input-required"] as const;

/** Statuses a task never leaves. Every tool has an arm for each. */
export const terminalStatuses = ["completed", "failed", "canceled", "rejected"] as const;

/** One list after another. A call can be marked pure, which a spread cannot: bundles that need no list carry none. */
const joined = <A extends readonly string[], B extends readonly string[]>(a: A, b: B): readonly [...A, ...B] => [
  ...a,
  ...b,
];

/** Every task status; the order is the life of a task. */
export const taskStatuses = /* @__PURE__ */ joined(interimStatuses, terminalStatuses);

/** A status that a task leaves again. */
export type InterimStatus = (typeof interimStatuses)[number];
/** A status that a task never leaves. */
export type TerminalStatus = (typeof terminalStatuses)[number];

/** Statuses a task has in webhooks and answers. */
export type TaskStatus = (typeof taskStatuses)[number];

const among = (statuses: readonly unknown[], value: unknown): boolean => statuses.includes(value);

/** Whether a value is a status of a task, and not one of some other vocabulary. */
export const isTaskStatus = (value: unknown): value is TaskStatus => among(taskStatuses, value);

/** Whether a task may still change after this status. */
export const isInterim = (status: unknown): status is InterimStatus => among(interimStatuses, status);

/** Whether a task has ended with this status. */
export const isTerminal = (status: TaskStatus): status is TerminalStatus => among(terminalStatuses, status);

/** A task that ended, and did not do what it was asked for. */
export const isFailing = (status: TaskStatus): status is Exclude<TerminalStatus, "completed"> =>
  isTerminal(status) && status !== "completed";
