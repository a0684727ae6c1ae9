/** On SQLite everybody has the same clock. */
export const serverClock = "-- Nothing on SQLite.\n";
