/** One database, on SQLite for one machine and on PostgreSQL for many: statements, transactions, schema. */
export { type Coroutine, isPromise, runAsync, runSync, wait } from "./coroutine.js";
export { hiddenTables, refuseHiddenTables } from "./hidden-tables.js";
export { type AnyDatabase, type EngineName, engineNames, openDatabase, printSchema } from "./open.js";
export { binaryArray } from "./postgres/binary-array.js";
export { kept } from "./postgres/kept.js";
export { openPostgres, type PostgresDatabase, type PostgresOptions, type PostgresTx } from "./postgres/open.js";
export { openSqlite, type SqliteDatabase, type SqliteOptions } from "./sqlite/open.js";
export type * from "./types.js";
