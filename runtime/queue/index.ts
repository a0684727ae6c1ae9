/** `adbind/queue`: durable jobs in the caller's own transaction, on SQLite for one machine or PostgreSQL for many. */
export type { EndpointOptions, EndpointOwner } from "./endpoint-options.js";
export { openQueue } from "./open.js";
export type * from "./types.js";
export { createWorker, type Handled, type Worker, type WorkerOptions } from "./worker.js";
