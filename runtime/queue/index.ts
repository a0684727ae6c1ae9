/** `adbind/queue`: durable jobs in the caller's own transaction, on SQLite for one machine or PostgreSQL for many. */
export { type EmbeddedQueueOptions, embeddedQueue } from "./embedded.js";
export type { GroupOptions } from "./groups.js";
export { openQueue, type QueueOptions } from "./open.js";
export { type BossQueueOptions, openBossQueue } from "./pg-boss.js";
export type * from "./types.js";
export { type QueueView, queueView } from "./view.js";
export { createWorker, type Outcome, type Worker, type WorkerOptions } from "./worker.js";
