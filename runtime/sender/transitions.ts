/** Which status may follow which: strict for a sender, whose events a receiver may meet in any order. */
import { terminalStatuses as ends, isTerminal, type TaskStatus } from "../contract/index.js";

/** docs/protocol/tasks.md#transitions. `working` follows itself: progress. */
const next: Record<TaskStatus, readonly TaskStatus[]> = {
  submitted: ["working", "input-required", ...ends],
  working: ["working", "submitted", "input-required", ...ends],
  "input-required": ["working", "submitted", ...ends],
  completed: [],
  failed: [],
  canceled: [],
  rejected: [],
};

export const mayFollow = (from: TaskStatus, to: TaskStatus): boolean => next[from].includes(to);

/** Statuses `to` may be reached from, for messages. */
export const describeNext = (from: TaskStatus): string =>
  isTerminal(from) ? "nothing: the task is over" : next[from].join(", ");
