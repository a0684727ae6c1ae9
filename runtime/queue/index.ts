/**
 * `adbind/queue`: durable jobs in the caller's own transaction, on SQLite for one machine or PostgreSQL for many; handed out by NATS to
 * a fleet.
 */
export type { EndpointOptions, EndpointOwner, RoomOf } from "./endpoint-options.js";
export type { NatsOptions } from "./nats/options.js";
export { natsQueue, openQueue } from "./open.js";
export type * from "./types.js";
export { createWorker, type Handled, type Worker, type WorkerOptions } from "./worker.js";
