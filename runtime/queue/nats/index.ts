/** `adbind/queue/nats`: jobs of any number of PostgreSQL databases, handed out by a replicated stream of NATS JetStream. */
import type { AnyDatabase } from "../../db/index.js";
import { AdbindError } from "../../errors.js";
import { LEASE_MS, type OpenQueue, type QueueOptions } from "../types.js";
import { NatsQueue } from "./queue.js";
import { type NatsOptions, Servers } from "./servers.js";
import { sourceName } from "./tickets.js";

export type { OpenQueue, Queue, QueueOptions } from "../types.js";
export type { NatsOptions } from "./servers.js";

/** What a subject may have in it. */
const TOPIC = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Makes what opens queues on a stream: give it to `createSender`. No server is asked before something is taken.
 * @throws AdbindError `queue_option_invalid` for servers, a topic or a database it cannot be used with
 */
export function natsQueue(options: NatsOptions): OpenQueue {
  const invalid = (where: string, remedy: string): AdbindError =>
    new AdbindError("queue_option_invalid", "a queue on NATS cannot be opened", { where, remedy });
  if ([options.servers].flat().join("").trim() === "") throw invalid("servers", "give nats://host:4222, or several");
  if (![undefined, 1, 3, 5].includes(options.replicas)) throw invalid("replicas", "give 1, 3 or 5");
  return async (database: AnyDatabase, topic: string, given: QueueOptions) => {
    if (database.engine !== "postgres") throw invalid("store", "its jobs are kept in PostgreSQL");
    if (!TOPIC.test(topic)) throw invalid("topic", "give letters, digits, - and _");
    const source = await database.query((q) => sourceName(q));
    const { resendMs } = options;
    const leaseMs = given.leaseMs ?? LEASE_MS;
    const servers = new Servers(options, { topic, source, leaseMs });
    return new NatsQueue(database, topic, servers, { ...given, ...(resendMs !== undefined && { resendMs }) });
  };
}
