/**
 * Tasks as this process last saw them. A change is made from that, and written if the row is still the same: one journey to
 * the server where it is, which is nearly always, and another where somebody else has changed it. Never more than a guess.
 */
import type { SenderTables } from "../store/sender-tables.js";
import type { SentTaskRow } from "../store/sent-tasks.js";

/** What is kept, in bytes: some twenty thousand tasks of the usual size. */
const BYTES = 20_000_000;
/** Longest details that are kept, in characters. */
const DETAILS_CHARACTERS = 4_096;
/** What a task takes beside its details, about. */
const ROW_BYTES = 600;

const sizeOf = ({ details }: SentTaskRow): number => ROW_BYTES + details.length;

export class KnownTasks {
  readonly #tasks = new Map<string, SentTaskRow>();
  #bytes = 0;

  note(row: SentTaskRow): void {
    this.forget(row.task_id);
    if (row.details.length > DETAILS_CHARACTERS) return;
    this.#tasks.set(row.task_id, row);
    this.#bytes += sizeOf(row);
    while (this.#bytes > BYTES) this.forget(this.#tasks.keys().next().value!);
  }

  forget(taskId: string): void {
    const row = this.#tasks.get(taskId);
    if (row === undefined) return;
    this.#tasks.delete(taskId);
    this.#bytes -= sizeOf(row);
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
