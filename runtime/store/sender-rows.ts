/** Rows of a sender that several of its tables' files know. */
import type { SentTaskRow } from "./sent-tasks.js";

export interface ChannelRow {
  readonly resource: string;
  readonly kind: string;
  /** The principal, where a resource may have several; empty where it has one owner. */
  readonly subscriber: string;
  readonly principal: string;
  readonly config: string;
  readonly sequence: number;
  readonly period_start: number | null;
  readonly next_fire: number | null;
  readonly closed: number;
  /** Unix milliseconds; null while it is not. */
  readonly closed_at: number | null;
  /** Version of the release it was registered under; null for the sender's first. */
  readonly release: string | null;
  /** Name of its endpoint; null where it has none, empty where that was never noted. */
  readonly endpoint: string | null;
}

/** A channel by its key. */
export type ChannelKey = Pick<ChannelRow, "resource" | "kind" | "subscriber">;

/** A task as it is registered. */
export type NewTaskRow = SentTaskRow & TaskEndpoints;

/** Names of a task's endpoints; null where it has none. */
export interface TaskEndpoints {
  readonly push_endpoint: string | null;
  readonly a2a_endpoint: string | null;
}

/** Where the events of a task go, and whose it is. */
export type TaskTargetRow = Pick<SentTaskRow, "task_id" | "principal" | "details" | "status">;
