/**
 * Tasks as this process last saw them. A change is made from that, and written if the row is still the same: one journey to
 * the server where it is, which is nearly always, and another where somebody else has changed it. Never more than a guess.
 */
import type { SenderTables } from "../store/sender-tables.js";
import type { SentTaskRow } from "../store/sent-tasks.js";

/** Tasks kept, and the longest of them in characters: 20 MB at most. */
const TASKS = 5_000;
const DETAILS_CHARACTERS = 4_096;

export class KnownTasks {
  readonly #tasks = new Map<string, SentTaskRow>();

  note(row: SentTaskRow): void {
    this.#tasks.delete(row.task_id);
    if (row.details.length > DETAILS_CHARACTERS) return;
    this.#tasks.set(row.task_id, row);
    if (this.#tasks.size > TASKS) this.#tasks.delete(this.#tasks.keys().next().value!);
  }

  forget(taskId: string): void {
    this.#tasks.delete(taskId);
  }

  /** All of them, or undefined. */
  all(taskIds: readonly string[]): SentTaskRow[] | undefined {
    const found = taskIds.map((id) => this.#tasks.get(id));
    return found.every((row) => row !== undefined) ? found : undefined;
  }
}

/** Where a statement is no journey there is nothing to gain. */
export const knownTasks = ({ remote }: Pick<SenderTables, "remote">): KnownTasks | undefined =>
  remote ? new KnownTasks() : undefined;
