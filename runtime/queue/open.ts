/** The queue that fits a database. To add an engine: a folder here, and a row. */
import type { AnyDatabase } from "../db/index.js";
import { postgresQueue } from "./postgres/queue.js";
import { sqliteQueue } from "./sqlite/queue.js";
import type { Queue, QueueOptions } from "./types.js";

const engines = { sqlite: sqliteQueue, postgres: postgresQueue } as const;

/**
 * Makes a queue on a database.
 * @param topic name of its jobs; several queues share a database by it
 */
export const openQueue = (database: AnyDatabase, topic: string, options: QueueOptions = {}): Queue =>
  (engines[database.engine] as (database: AnyDatabase, topic: string, options: QueueOptions) => Queue)(
    database,
    topic,
    options,
  );
