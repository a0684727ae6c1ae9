/** Where events become jobs, and where people look at them. */
import { hash } from "node:crypto";
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import type { EndpointOwner } from "../queue/endpoint-options.js";
import type { JobFilter, JobRecord, NewJob, Queue } from "../queue/types.js";
import type { DeliveryMeta } from "./attempt.js";
import { redactUrl } from "./redact.js";
import type { TargetRef } from "./stored-configs.js";
import type { EndpointIdentity } from "./types.js";

/** Deliveries in the queue, and changes that applications stored by `adbind_enqueue`. */
export const OUTBOX_TOPIC = "webhooks";

export interface Delivery extends DeliveryMeta {
  readonly key: string;
  /** Deliveries under one ordering key are first attempted in the order they were made. */
  readonly orderingKey: string;
  /** Name of its endpoint; by principal and URL where there is none. */
  readonly endpoint?: string | undefined;
  readonly body: Uint8Array;
}

const DIGEST_CHARACTERS = 22;
const digest = (text: string): string => hash("sha256", text, "base64url").slice(0, DIGEST_CHARACTERS);

/**
 * What shares turns, and fails, as a whole: one principal's URL. Others' on the same host are endpoints of their own; the
 * host comes first, for people, and stands before a blank; then the principal, before a dot.
 */
export const endpointOf = ({ principal, url }: EndpointIdentity): string =>
  `${new URL(url).origin} ${digest(principal)}.${digest(url)}`;

/** Who stands behind an endpoint, by its name. */
export function ownerOf(endpoint: string): EndpointOwner {
  const [host = endpoint, rest = endpoint] = endpoint.split(" ");
  return { host, principal: rest.split(".")[0]! };
}

/** Longest id that stands in an ordering key as it is, in characters: longer ones would not fit into an index. */
const KEY_CHARACTERS = 300;

/** Events of one task, buy or resource go in their order, each kind for itself. */
export const orderingKeyOf = (kind: string, id: string): string =>
  `${kind}:${id.length <= KEY_CHARACTERS ? id : digest(id)}`;

/** Of a task's events by one way. */
export const taskOrderingKey = (via: "push" | "a2a", taskId: string): string =>
  orderingKeyOf(via === "push" ? "task" : "a2a", taskId);

export const toNewJob = ({ key, orderingKey, endpoint, body, ...meta }: Delivery): NewJob => ({
  key,
  random: true,
  orderingKey,
  endpoint: endpoint ?? endpointOf(meta),
  // The URL itself is looked up at each attempt, and may be a secret.
  meta: JSON.stringify({ ...meta, url: redactUrl(meta.url) }),
  body,
});

/** Deliveries added in one statement: bounds its size where many are told the same. */
const ADD_LIMIT = 256;

export function* enqueue(queue: Queue, query: Query, deliveries: readonly Delivery[]): Coroutine<void> {
  for (let at = 0; at < deliveries.length; at += ADD_LIMIT) {
    yield* queue.add(query, deliveries.slice(at, at + ADD_LIMIT).map(toNewJob));
  }
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
  const { kind, taskId, url, principal, subject, target } = (read ?? {}) as Record<string, unknown>;
  if (kind === "change" && typeof taskId === "string") return read as ChangeMeta;
  const texts = [url, principal, subject].every((text) => typeof text === "string");
  if (texts && isTarget(target)) return read as DeliveryMeta;
  throw unreadable(id, "its meta says neither where it goes nor for whom");
}

function isTarget(target: unknown): target is TargetRef {
  if (typeof target !== "object" || target === null) return false;
  if ("task" in target) return typeof target.task === "string" && "via" in target;
  if (!("channel" in target)) return false;
  const { resource, kind, subscriber } = (target.channel ?? {}) as Record<string, unknown>;
  return [resource, kind, subscriber].every((text) => typeof text === "string");
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
function shownMeta(job: JobRecord): Pick<OutboxEntry, "type" | "subject" | "url"> & { readonly principal: string } {
  try {
    const meta = metaOf(job);
    if (isChange(meta)) return { type: "change", subject: meta.taskId, url: "", principal: "" };
    return { type: meta.type, subject: meta.subject, url: redactUrl(meta.url), principal: meta.principal };
  } catch {
    return { type: "unreadable", subject: "", url: "", principal: "" };
  }
}

const entryMeta = (job: JobRecord) => {
  const { type, subject, url } = shownMeta(job);
  return { type, subject, url };
};

const toEntry = (job: JobRecord): OutboxEntry => ({
  ...entryMeta(job),
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
  /** Endpoints that have events waiting, fail or are paused, by name; 100 at a time at most. @param page `after` a name */
  endpoints(page?: { readonly after?: string; readonly limit?: number }): Promise<EndpointEntry[]>;
  /** Leaves an endpoint alone until `resume`; its events stay. @param endpoint as `endpoints` names it */
  pause(endpoint: string): Promise<void>;
  /** Ends a pause, an operator's or any other, within a minute everywhere. False when there was none. */
  resume(endpoint: string): Promise<boolean>;
}

/** An endpoint as an operator sees it. Times are unix milliseconds. */
export interface EndpointEntry {
  readonly endpoint: string;
  /** Whose, where it goes and why the last attempt failed, by one of its events; empty or null where none waits. */
  readonly principal: string;
  readonly url: string;
  readonly error: string | null;
  readonly waiting: number;
  /** `paused`: by an operator. `resting`: it fails, or asked for it, and is left alone until `restsUntil`. */
  readonly state: "well" | "failing" | "resting" | "paused";
  readonly restsUntil: number | null;
  readonly failingSince: number | null;
}

const ENDPOINTS_LIMIT = 100;

async function listEndpoints(
  queue: Queue,
  now: number,
  { after = "", limit = ENDPOINTS_LIMIT }: { readonly after?: string; readonly limit?: number },
): Promise<EndpointEntry[]> {
  const records = await queue.endpoints({ after, limit: Math.min(Math.max(1, limit), ENDPOINTS_LIMIT) });
  const entries: EndpointEntry[] = [];
  for (const { endpoint, pausedUntil, failingSince, stoppedAt, waiting, sample } of records) {
    const job = sample === null ? undefined : await queue.get(sample);
    const state =
      stoppedAt !== null ? "paused" : pausedUntil > now ? "resting" : failingSince !== null ? "failing" : "well";
    entries.push({
      ...{ endpoint, waiting, state, failingSince, error: job?.error ?? null },
      principal: job === undefined ? "" : shownMeta(job).principal,
      url: job === undefined ? "" : shownMeta(job).url,
      restsUntil: pausedUntil > now ? pausedUntil : null,
    });
  }
  return entries;
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
  endpoints: (page = {}) => listEndpoints(queue, now(), page),
  pause: (endpoint) => queue.stop(endpoint, now()),
  resume: (endpoint) => queue.resume(endpoint),
});
