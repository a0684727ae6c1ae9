/** Opens a queue whose jobs are handed out by a replicated stream of NATS JetStream. */
import type { AnyDatabase } from "../../db/index.js";
import { LEASE_MS, type Queue, type QueueOptions } from "../types.js";
import { type NatsOptions, unusableQueue } from "./options.js";
import { NatsQueue } from "./queue.js";
import { Servers } from "./servers.js";
import { sourceName } from "./tickets.js";

/** What a subject may have in it. */
const TOPIC = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * No server is asked before something is taken.
 * @throws AdbindError `queue_option_invalid` for a topic or a database it cannot be used with
 */
export async function openNatsQueue(
  options: NatsOptions,
  { database, topic, given }: { readonly database: AnyDatabase; readonly topic: string; readonly given: QueueOptions },
): Promise<Queue> {
  if (database.engine !== "postgres") throw unusableQueue("store", "its jobs are kept in PostgreSQL");
  if (!TOPIC.test(topic)) throw unusableQueue("topic", "give letters, digits, - and _");
  const source = await database.query((q) => sourceName(q));
  const servers = new Servers(options, { topic, source, leaseMs: given.leaseMs ?? LEASE_MS });
  const { resendMs } = options;
  return new NatsQueue(database, topic, servers, { ...given, ...(resendMs !== undefined && { resendMs }) });
}
