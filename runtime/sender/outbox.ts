/** Where events become jobs, and where people look at them. */
import type { MaybePromise } from "../contract/index.js";
import type { JobFilter, JobRecord, NewJob, Queue } from "../queue/types.js";
import type { DeliveryMeta } from "./attempt.js";
import { redactUrl } from "./redact.js";

/** Deliveries in the queue. */
export const OUTBOX_TOPIC = "webhooks";

export interface Delivery extends DeliveryMeta {
  readonly key: string;
  /** Deliveries of one lane are first attempted in the order they were made. */
  readonly lane: string;
  readonly body: Uint8Array;
}

/** Destinations share turns, and fail, as a whole: one host, whatever its paths. */
const groupOf = (url: string): string => new URL(url).origin;

const toNewJob = ({ key, lane, body, ...meta }: Delivery): NewJob => ({
  key,
  random: true,
  lane,
  group: groupOf(meta.url),
  meta: JSON.stringify(meta),
  body,
});

export const enqueue = <Tx>(queue: Queue<Tx>, tx: Tx, deliveries: readonly Delivery[]): MaybePromise<void> =>
  deliveries.length === 0 ? undefined : queue.add(tx, deliveries.map(toNewJob));

/** An event in the outbox as it may be shown: no credentials, no secrets of its URL. */
export interface OutboxEntry {
  readonly id: number;
  readonly key: string;
  readonly state: "waiting" | "out" | "dead";
  readonly type: string;
  readonly subject: string;
  readonly url: string;
  readonly attempts: number;
  /** Unix milliseconds; null behind another event of its task. */
  readonly due: number | null;
  readonly createdAt: number;
  readonly firstAt: number | null;
  readonly error: string | null;
  readonly bytes: number;
}

const toEntry = (job: JobRecord): OutboxEntry => {
  const meta = JSON.parse(job.meta) as DeliveryMeta;
  return {
    id: job.id,
    key: job.key,
    state: job.state === "dead" ? "dead" : job.startedAt === null ? "waiting" : "out",
    type: meta.type,
    subject: meta.subject,
    url: redactUrl(meta.url),
    attempts: job.attempts,
    due: job.due === Number.MAX_SAFE_INTEGER ? null : job.due,
    createdAt: job.createdAt,
    firstAt: job.firstAt,
    error: job.error,
    bytes: job.body.length,
  };
};

/** What may be looked at without a queue that runs. */
export interface OutboxView {
  list(filter?: Omit<JobFilter, "topic">): Promise<OutboxEntry[]>;
  counts(): Promise<{ readonly waiting: number; readonly dead: number }>;
}

export interface Outbox extends OutboxView {
  /** Gives a dead letter another day. False when there is none. */
  retry(id: number): Promise<boolean>;
  /** Removes an event unsent. False when there is none. */
  drop(id: number): Promise<boolean>;
}

export const outboxViewOf = (queue: Pick<Queue, "list" | "counts">): OutboxView => ({
  list: async (filter) => (await queue.list(filter)).map(toEntry),
  async counts() {
    const { ready, dead } = await queue.counts();
    return { waiting: ready, dead };
  },
});

export const outboxOf = <Tx>(queue: Queue<Tx>, now: () => number): Outbox => ({
  ...outboxViewOf(queue),
  retry: (id) => queue.replay(id, now()),
  drop: (id) => queue.drop(id, now()),
});
