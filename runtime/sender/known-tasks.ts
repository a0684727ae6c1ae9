/**
 * Tasks as this process last saw them. A change is made from that, and written if the row is still the same: one journey to
 * the server where it is, which is nearly always, and another where somebody else has changed it. Never more than a guess.
 */
import type { SenderTables } from "../store/sender-tables.js";
import type { SentTaskRow } from "../store/sent-tasks.js";

/** Of a generation, in bytes: some twenty thousand tasks of the usual size. */
const GENERATION_BYTES = 20_000_000;
/** Longest details that are kept, in characters. */
const DETAILS_CHARACTERS = 4_096;
/** What a task takes beside its details, about. */
const ROW_BYTES = 600;

const sizeOf = ({ details }: SentTaskRow): number => ROW_BYTES + details.length;

/**
 * Two generations. What is noted is of the younger; once that is full, the elder is forgotten as a whole: a map in which one
 * goes for each that comes is slow, since it looks past all that went.
 */
export class KnownTasks {
  #young = new Map<string, SentTaskRow>();
  /** What the young have too is older here. */
  #old = new Map<string, SentTaskRow>();
  /** Of the young. */
  #bytes = 0;

  note(row: SentTaskRow): void {
    if (row.details.length > DETAILS_CHARACTERS) {
      this.forget(row.task_id);
      return;
    }
    const before = this.#young.get(row.task_id);
    this.#young.set(row.task_id, row);
    this.#bytes += sizeOf(row) - (before === undefined ? 0 : sizeOf(before));
    if (this.#bytes <= GENERATION_BYTES) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#bytes = 0;
  }

  forget(taskId: string): void {
    const row = this.#young.get(taskId);
    if (row !== undefined) this.#bytes -= sizeOf(row);
    this.#young.delete(taskId);
    this.#old.delete(taskId);
  }

  /** All of them, or undefined. */
  all(taskIds: readonly string[]): SentTaskRow[] | undefined {
    const found = taskIds.map((id) => this.#young.get(id) ?? this.#old.get(id));
    return found.every((row) => row !== undefined) ? found : undefined;
  }
}

/** Where a statement is no journey there is nothing to gain. */
export const knownTasks = ({ remote }: Pick<SenderTables, "remote">): KnownTasks | undefined =>
  remote ? new KnownTasks() : undefined;
