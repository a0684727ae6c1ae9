/** One transaction writes at a time on SQLite: whoever ends a job sees what others have ended. */
export const nextGo = "-- Nothing on SQLite.\n";
