/** Where events become jobs, and where people look at them. */
import { hash } from "node:crypto";
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import type { JobFilter, JobRecord, NewJob, Queue } from "../queue/types.js";
import type { DeliveryMeta } from "./attempt.js";
import { redactUrl } from "./redact.js";

/** Deliveries in the queue, and changes that applications stored by `adbind_enqueue`. */
export const OUTBOX_TOPIC = "webhooks";

export interface Delivery extends DeliveryMeta {
  readonly key: string;
  /** Deliveries under one ordering key are first attempted in the order they were made. */
  readonly orderingKey: string;
  readonly body: Uint8Array;
}

const DIGEST_CHARACTERS = 22;
const digest = (text: string): string => hash("sha256", text, "base64url").slice(0, DIGEST_CHARACTERS);

/**
 * What shares turns, and fails, as a whole: one principal's URL. Others' on the same host are endpoints of their own; the
 * host comes first, for people, and stands before a blank.
 */
export const endpointOf = ({ principal, url }: Pick<DeliveryMeta, "principal" | "url">): string =>
  `${new URL(url).origin} ${digest(JSON.stringify([principal, url]))}`;

/** Longest id that stands in an ordering key as it is, in characters: longer ones would not fit into an index. */
const KEY_CHARACTERS = 300;

/** Events of one task, buy or resource go in their order, each kind for itself. */
export const orderingKeyOf = (kind: string, id: string): string =>
  `${kind}:${id.length <= KEY_CHARACTERS ? id : digest(id)}`;

export const toNewJob = ({ key, orderingKey, body, ...meta }: Delivery): NewJob => ({
  key,
  random: true,
  orderingKey,
  endpoint: endpointOf(meta),
  meta: JSON.stringify(meta),
  body,
});

export function* enqueue(queue: Queue, query: Query, deliveries: readonly Delivery[]): Coroutine<void> {
  if (deliveries.length > 0) yield* queue.add(query, deliveries.map(toNewJob));
}

/** A change of a task that an application stored, and no sender has looked at yet. */
export interface ChangeMeta {
  readonly kind: "change";
  readonly taskId: string;
}

/** @throws AdbindError `job_unreadable` for a row that was written by somebody else's hand */
export function metaOf({ id, meta }: Pick<JobRecord, "id" | "meta">): DeliveryMeta | ChangeMeta {
  let read: unknown;
  try {
    read = JSON.parse(meta);
  } catch (cause) {
    throw unreadable(id, "its meta is no JSON", cause);
  }
  const { kind, taskId, url, principal, subject } = (read ?? {}) as Record<string, unknown>;
  if (kind === "change" && typeof taskId === "string") return read as ChangeMeta;
  if (typeof url === "string" && URL.canParse(url) && typeof principal === "string" && typeof subject === "string") {
    return read as DeliveryMeta;
  }
  throw unreadable(id, "its meta says neither where it goes nor for whom");
}

const unreadable = (id: number, what: string, cause?: unknown): AdbindError =>
  new AdbindError("job_unreadable", what, { where: `event ${id}`, ...(cause !== undefined && { cause }) });

export const isChange = (meta: DeliveryMeta | ChangeMeta): meta is ChangeMeta => "kind" in meta;

/** An event in the outbox as it may be shown: no credentials, no secrets of its URL. */
export interface OutboxEntry {
  readonly id: number;
  readonly key: string;
  /**
   * `dead`: attempted for a day. `expired`: never attempted, because its endpoint failed all the time. `refused`: it cannot
   * be read or carried out; `error` says why.
   */
  readonly state: "waiting" | "out" | "dead" | "expired" | "refused";
  readonly type: string;
  readonly subject: string;
  /** Empty for a change that no sender has made an event of. */
  readonly url: string;
  readonly attempts: number;
  /** Unix milliseconds; null behind another event of its task. */
  readonly due: number | null;
  readonly createdAt: number;
  readonly firstAt: number | null;
  readonly error: string | null;
  readonly bytes: number;
}

/** What is shown of a row's meta, whatever is in it. */
function shownMeta(job: JobRecord): Pick<OutboxEntry, "type" | "subject" | "url"> {
  try {
    const meta = metaOf(job);
    if (isChange(meta)) return { type: "change", subject: meta.taskId, url: "" };
    return { type: meta.type, subject: meta.subject, url: redactUrl(meta.url) };
  } catch {
    return { type: "unreadable", subject: "", url: "" };
  }
}

const toEntry = (job: JobRecord): OutboxEntry => ({
  ...shownMeta(job),
  id: job.id,
  key: job.key,
  state: job.state !== "ready" ? job.state : job.startedAt === null ? "waiting" : "out",
  attempts: job.attempts,
  due: job.due === Number.MAX_SAFE_INTEGER ? null : job.due,
  createdAt: job.createdAt,
  firstAt: job.firstAt,
  error: job.error,
  bytes: job.body.length,
});

export interface OutboxFilter extends Omit<JobFilter, "topic" | "endpoint"> {
  /** Origin of the endpoints, e.g. `https://buyer.example`. */
  readonly origin?: string;
}

export interface OutboxCounts {
  readonly waiting: number;
  readonly dead: number;
  readonly expired: number;
  readonly refused: number;
}

export interface Outbox {
  list(filter?: OutboxFilter): Promise<OutboxEntry[]>;
  counts(): Promise<OutboxCounts>;
  /** Gives an event that ended another day. False when there is none. */
  retry(id: number): Promise<boolean>;
  /** Removes an event unsent. False when there is none. */
  drop(id: number): Promise<boolean>;
}

export const outboxOf = (queue: Queue, now: () => number): Outbox => ({
  async list({ origin, ...filter } = {}) {
    return (await queue.list({ ...filter, ...(origin !== undefined && { endpoint: `${origin} ` }) })).map(toEntry);
  },
  async counts() {
    const { ready: waiting, ...ended } = await queue.counts();
    return { waiting, ...ended };
  },
  retry: (id) => queue.replay(id, now()),
  drop: (id) => queue.drop(id, now()),
});
