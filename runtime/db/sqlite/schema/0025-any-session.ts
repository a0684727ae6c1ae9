/** SQLite has no functions of ours. */
export const anySession = "-- Nothing on SQLite.\n";
