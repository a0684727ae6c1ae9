/** The stream that tickets are in, and the one consumer that deliverers of a database share. */
import type { JetStreamManager, StreamConfig } from "@nats-io/jetstream";
import { AdbindError } from "../../errors.js";

const SECOND_NS = 1_000_000_000;
/** By when the same ticket would be dropped as a duplicate. */
const DUPLICATES_NS = 120 * SECOND_NS;
/** A ticket older than every retry is nobody's. */
const AGE_NS = 9 * 86_400 * SECOND_NS;
/** Tickets at most; what comes beyond waits in its database. */
const MAX_TICKETS = 5_000_000;
/** Tickets that deliverers may have out at a time. */
const MAX_OUT = 100_000;
/** Deliverers that may wait for tickets at a time. */
const MAX_WAITING = 8_192;
/** A source of which nothing was heard for that long has its consumer taken away; its tickets stay. */
const INACTIVE_NS = 7 * 86_400 * SECOND_NS;

/** Whose tickets are meant. */
export interface TicketSource {
  readonly topic: string;
  /** Name of the database. */
  readonly source: string;
  /** How long a ticket is leased, in milliseconds. */
  readonly leaseMs: number;
}

export interface StreamNames {
  readonly stream: string;
  readonly consumer: string;
  /** Subject of what may be attempted now. */
  readonly now: string;
  /** Subject of what is scheduled, each under its number. */
  readonly later: string;
}

export const streamNames = ({ topic, source }: TicketSource): StreamNames => ({
  stream: `adbind_${topic}`,
  consumer: source,
  now: `adbind.${topic}.now.${source}`,
  later: `adbind.${topic}.later.${source}`,
});

/**
 * Makes what is not there yet. A stream that an operator has made, or a consumer that he or an instance of another version has,
 * stays as it is: the servers would refuse one with other settings, and nothing would be delivered.
 * @throws AdbindError `queue_option_invalid` for a stream that cannot hold tickets, or a consumer that cannot have them
 */
export async function prepareStream(jsm: JetStreamManager, of: TicketSource, replicas: number): Promise<void> {
  const { stream, consumer, now } = streamNames(of);
  const config: Partial<StreamConfig> & Pick<StreamConfig, "name"> = {
    name: stream,
    subjects: [`adbind.${of.topic}.>`],
    retention: "workqueue",
    storage: "file",
    discard: "new",
    num_replicas: replicas,
    duplicate_window: DUPLICATES_NS,
    max_age: AGE_NS,
    max_msgs: MAX_TICKETS,
    allow_msg_schedules: true,
  };
  const there = await jsm.streams.info(stream).catch(() => jsm.streams.add(config));
  if (there.config.allow_msg_schedules !== true || there.config.retention !== "workqueue")
    throw new AdbindError("queue_option_invalid", "the stream is not one of tickets", {
      where: stream,
      remedy: "give it work-queue retention and message schedules (NATS 2.12 or newer), or remove it",
    });
  const wanted = {
    durable_name: consumer,
    ack_policy: "explicit",
    ack_wait: of.leaseMs * 1_000_000,
    filter_subject: now,
    max_ack_pending: MAX_OUT,
    max_waiting: MAX_WAITING,
    max_deliver: -1,
    inactive_threshold: INACTIVE_NS,
  } as const;
  const { config: shared } = await jsm.consumers.info(stream, consumer).catch(() => jsm.consumers.add(stream, wanted));
  if (shared.ack_policy !== "explicit" || shared.deliver_subject !== undefined || shared.filter_subject !== now)
    throw new AdbindError("queue_option_invalid", "the consumer is not one of tickets", {
      where: `${consumer} of ${stream}`,
      remedy: "remove it: it is made anew",
    });
  // Who leases for longer: tickets of others only come later where their holder has died.
  if ((shared.ack_wait ?? 0) < wanted.ack_wait)
    await jsm.consumers.update(stream, consumer, { ack_wait: wanted.ack_wait });
}
