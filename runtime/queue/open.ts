/** The queue that fits a database. To add an engine: a folder here, and a row. */
import type { AnyDatabase } from "../db/index.js";
import { checkNatsOptions, type NatsOptions } from "./nats/options.js";
import { postgresQueue } from "./postgres/queue.js";
import { sqliteQueue } from "./sqlite/queue.js";
import type { OpenQueue, Queue, QueueOptions } from "./types.js";

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

/**
 * Makes what opens queues of PostgreSQL databases whose jobs are handed out by servers of NATS: give it to `createSender`. Its
 * client, @nats-io/transport-node and @nats-io/jetstream, is installed by who uses it.
 * @throws AdbindError `queue_option_invalid`
 */
export function natsQueue(options: NatsOptions): OpenQueue {
  checkNatsOptions(options);
  return async (database, topic, given) => {
    const { openNatsQueue } = await import("./nats/open.js");
    return openNatsQueue(options, { database, topic, given });
  };
}
