/** How each engine changes many tasks of a sender at once. To add one: a row. */
import type { AnyDatabase } from "../db/open.js";
import { changeTasks as changeTasksOnPostgres } from "./postgres/sent-tasks.js";
import type { ChangeTasks } from "./sent-tasks.js";
import { changeTasks as changeTasksOnSqlite } from "./sqlite/sent-tasks.js";

export const taskChangesOn: Readonly<Record<AnyDatabase["engine"], ChangeTasks>> = {
  sqlite: changeTasksOnSqlite,
  postgres: changeTasksOnPostgres,
};
