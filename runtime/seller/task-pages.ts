/**
 * Lists of tasks, page by page. A page begins after the last task of the one before, not after so many tasks: others end and begin
 * while a list is read, and would be skipped or told twice.
 */
import { isStorableId } from "../contract/storable-id.js";
import type { Coroutine } from "../db/coroutine.js";
import type { SellerDatabase, TaskFilter, TaskPage } from "../store/seller-tables.js";
import type { SellerTaskRow } from "../store/seller-task.js";

export interface TasksRead {
  readonly rows: readonly SellerTaskRow[];
  /** How many there are of each status, on all pages. */
  readonly counts: Readonly<Record<string, number>>;
  readonly total: number;
  /** Where the next page begins; undefined where there is none. */
  readonly next: string | undefined;
}

type Order = Pick<TaskPage, "order" | "descending">;

/** Reads a page, and counts all that its filter finds at the same moment. */
export async function readTasks<Tx>(
  database: SellerDatabase<Tx>,
  filter: TaskFilter,
  page: TaskPage,
): Promise<TasksRead> {
  const { principal } = filter;
  return database.transact({ principal }, function* (tx): Coroutine<TasksRead> {
    const found: SellerTaskRow[] = yield* database.tables.tasks(tx, filter, { ...page, limit: page.limit + 1 });
    const counted: { status: string; count: number }[] = yield* database.tables.countTasks(tx, filter);
    const counts = Object.fromEntries(counted.map(({ status, count }) => [status, Number(count)]));
    const rows = found.slice(0, page.limit);
    const last = rows.at(-1);
    const next = found.length > rows.length && last !== undefined ? cursorOf(page, last) : undefined;
    return { rows, counts, total: Object.values(counts).reduce((sum, count) => sum + count, 0), next };
  });
}

const direction = ({ descending }: Order): string => (descending ? "desc" : "asc");

const cursorOf = (page: Order, row: SellerTaskRow): string =>
  Buffer.from(JSON.stringify([page.order, direction(page), row[page.order], row.task_id])).toString("base64url");

/** Where a page begins, by the cursor of the one before; undefined where that is none, or one of another order. */
export function pagePlace(cursor: string, page: Order): TaskPage["after"] {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(read) || read.length !== 4) return undefined;
  const [order, way, value, taskId] = read as unknown[];
  if (order !== page.order || way !== direction(page) || !isStorableId(taskId)) return undefined;
  const timed = page.order === "created_at" || page.order === "updated_at";
  if (timed) return Number.isSafeInteger(value) ? { value: value as number, taskId } : undefined;
  return isStorableId(value) ? { value, taskId } : undefined;
}
