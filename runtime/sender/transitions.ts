/** Which status may follow which: strict for a sender, whose events a receiver may meet in any order. */
import { isInterim, isTerminal, type TaskStatus, taskStatuses } from "../contract/index.js";

/**
 * docs/protocol/tasks.md#transitions. What is not over may become anything else, or end; `working` follows itself: progress. A
 * change that another language has stored may name what is no status, and that follows nothing.
 */
export const mayFollow = (from: TaskStatus, to: TaskStatus): boolean =>
  isInterim(from) && taskStatuses.includes(to) && (to !== from || to === "working");

/** Statuses `to` may be reached from, for messages. */
export const describeNext = (from: TaskStatus): string =>
  isTerminal(from) ? "nothing: the task is over" : taskStatuses.filter((to) => mayFollow(from, to)).join(", ");
