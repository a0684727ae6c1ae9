/** Statements of SQLite are no journey, and need no function. */
export const functions = "-- Nothing on SQLite.\n";
