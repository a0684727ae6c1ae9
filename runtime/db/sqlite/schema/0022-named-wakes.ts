/** Who adds jobs on SQLite wakes nobody but its own process. */
export const namedWakes = "-- Nothing on SQLite.\n";
