/** Tasks of a sender as they are changed: rows, and what each engine does to many of them at once. */
import { randomInt } from "node:crypto";
import type { Coroutine } from "../db/coroutine.js";
import type { JobAddition, Locking, Query } from "../db/types.js";

export interface SentTaskRow {
  readonly task_id: string;
  readonly principal: string;
  readonly tool: string;
  readonly status: string;
  /** ISO 8601 of the last event. */
  readonly instant: string;
  /** JSON of the channels and what is echoed. */
  readonly details: string;
  readonly expires: number;
  /** Random, and another one after each change: who knows it knows the row. */
  readonly revision: number;
}

/** What an event changes of its task. */
export type TaskChange = Pick<SentTaskRow, "task_id" | "status" | "instant" | "expires" | "revision">;

/** Events made under a dedup key. */
export interface DedupRow {
  readonly task_id: string;
  readonly dedup_key: string;
  /** Of the content. */
  readonly digest: string;
  /** JSON of the events' idempotency keys. */
  readonly keys: string;
  readonly expires: number;
}

export type DedupName = Pick<DedupRow, "task_id" | "dedup_key">;

/** A change with the revision of the row it was made from. */
export interface WrittenChange extends TaskChange {
  readonly was: number;
  /** The task is remembered longer than the row says. */
  readonly prolongs: boolean;
}

/** What changes of tasks come to: written all together, or not at all. */
export interface TaskWrites {
  readonly changes: readonly WrittenChange[];
  readonly dedups: readonly DedupRow[];
  /** Adds the jobs of the events. */
  readonly addJobs: (query: Query) => Coroutine<void>;
  /** The same for a statement that adds them itself. */
  readonly jobs: JobAddition | undefined;
}

/** Keyspaces that have to be in the database that a statement writes to: the rows that say so, and those of fences. */
export interface KeyspacesAsked {
  readonly kind: string;
  readonly fence: string;
  readonly names: readonly string[];
}

export interface TaskChangesRequest {
  readonly taskIds: readonly string[];
  /** Whose they are, where whoever asks says so: in one of several databases nothing else does for a task that is not there. */
  readonly principals?: readonly string[];
  /** Dedup keys to be looked up. */
  readonly keyed: readonly DedupName[];
  readonly locking: Locking;
  /** Nothing: the tasks are only locked and read. */
  readonly writes: TaskWrites | undefined;
  /**
   * The statement holds them to its own end, and locks and writes nothing where one is not here, or another transaction has
   * its row; for engines that have one statement for it all.
   */
  readonly here?: KeyspacesAsked;
}

/** All was written. */
export interface TasksWritten {
  /** Workers of the jobs are notified as the transaction commits. */
  readonly notified: boolean;
}

/** Tasks as they are, locked. */
export interface TasksFound {
  readonly tasks: readonly SentTaskRow[];
  /** Ids of tasks that were left out because another transaction holds them. */
  readonly elsewhere: readonly string[];
  readonly dedups: readonly DedupRow[];
  /** The server shows whoever asks some tasks only, or none. */
  readonly filtered?: boolean;
}

/**
 * Writes what was made of tasks, if each still is what it was made from.
 * @returns the tasks as they are where nothing was written
 */
export type ChangeTasks = (query: Query, request: TaskChangesRequest) => Coroutine<TasksWritten | TasksFound>;

/** Revisions are below this: exact in every driver's numbers. */
const REVISIONS = 2 ** 48 - 1;

export const newRevision = (): number => randomInt(REVISIONS);
