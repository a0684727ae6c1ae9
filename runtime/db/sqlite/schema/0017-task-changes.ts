/** Adding jobs and changing tasks: statements of SQLite are no journey, and need no function. */
export const taskChanges = "-- Nothing on SQLite.\n";
