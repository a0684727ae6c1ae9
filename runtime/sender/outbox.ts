/** Where events become jobs, and where people look at them. */
import type { Release } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { keysBindPayloads } from "../facts/index.js";
import type { JobRecord, NewJob, Queue } from "../queue/types.js";
import { ownerDigest } from "../store/keys.js";
import type { DeliveryMeta } from "./attempt.js";
import { endpointOf } from "./endpoint-names.js";
import { isStorable } from "./ids.js";
import { redactUrl } from "./redact.js";
import type { Bodies } from "./sealed-bodies.js";
import type { TargetRef } from "./stored-configs.js";

/** Deliveries in the queue, and changes that applications stored by `adbind_enqueue`. */
export const OUTBOX_TOPIC = "webhooks";

export interface Delivery extends DeliveryMeta {
  readonly key: string;
  /** Deliveries under one ordering key are first attempted in the order they were made. */
  readonly orderingKey: string;
  /** Name of its endpoint; by principal and URL where there is none. */
  readonly endpoint?: string | undefined;
  readonly body: string;
}

export const digest = ownerDigest;

/** What is said of deliveries whose key stands for one payload: an answer that it does not ends them. */
export const boundUnder = (release: Pick<Release, "facts">): { readonly bound?: true } =>
  keysBindPayloads(release) ? { bound: true } : {};

/** Longest id that stands in an ordering key as it is, in characters: longer ones would not fit into an index. */
const KEY_CHARACTERS = 300;

/** Events of one task, buy or resource go in their order, each kind for itself. */
export const orderingKeyOf = (kind: string, id: string): string =>
  `${kind}:${id.length <= KEY_CHARACTERS ? id : digest(id)}`;

/** Of a task's events by one way. */
export const taskOrderingKey = (via: "push" | "a2a", taskId: string): string =>
  orderingKeyOf(via === "push" ? "task" : "a2a", taskId);

/** What the one owner of a media buy is told of it: each kind by a channel of its own. */
const BUY_KINDS = ["events", "reporting"] as const;

/** Every ordering key under which the principal of a task or a media buy is told of it. */
export const subjectOrderingKeys = (subject: string): readonly string[] => [
  taskOrderingKey("push", subject),
  taskOrderingKey("a2a", subject),
  ...BUY_KINDS.map((kind) => orderingKeyOf(kind, subject)),
];

export const toNewJob = ({ key, orderingKey, endpoint, body, ...meta }: Delivery, bodies: Bodies): NewJob => ({
  key,
  random: true,
  orderingKey,
  endpoint: endpoint ?? endpointOf(meta),
  // The URL itself is looked up at each attempt, and may be a secret.
  meta: JSON.stringify({ ...meta, url: redactUrl(meta.url) }),
  body: bodies.seal(body, { principal: meta.principal, key }),
});

/** Deliveries added in one statement: bounds its size where many are told the same. */
const ADD_LIMIT = 256;
/** Characters of bodies in one statement: no text of a process or of a server is as long as many of the largest bodies are together. */
const ADD_LIMIT_CHARACTERS = 32 * 1_048_576;

export interface EnqueueParts {
  readonly queue: Queue;
  readonly bodies: Bodies;
}

export function enqueue(
  { queue, bodies }: EnqueueParts,
  query: Query,
  deliveries: readonly Delivery[],
): Coroutine<void> {
  return addInParts(
    queue,
    query,
    deliveries.map((delivery) => toNewJob(delivery, bodies)),
  );
}

/** Those that one statement has room for, from the first on: one at least, whatever its body. */
export function jobsAtOnce<T extends { readonly body: NewJob["body"] }>(jobs: readonly T[]): readonly T[] {
  let characters = 0;
  const end = jobs.findIndex(({ body }, at) => {
    characters += body.length;
    return at > 0 && characters > ADD_LIMIT_CHARACTERS;
  });
  return end < 0 ? jobs : jobs.slice(0, end);
}

export function* addInParts(queue: Pick<Queue, "add">, query: Query, jobs: readonly NewJob[]): Coroutine<void> {
  for (let at = 0; at < jobs.length; ) {
    const part = jobsAtOnce(jobs.slice(at, at + ADD_LIMIT));
    yield* queue.add(query, part);
    at += part.length;
  }
}

/** A change of a task that an application stored, and no sender has looked at yet. */
export interface ChangeMeta {
  readonly kind: "change";
  readonly taskId: string;
}

/** What was read of a job stays on it: each small collection looks through all of a map beside them. */
const READ = Symbol("read");

interface WithMeta extends Pick<JobRecord, "id" | "meta"> {
  [READ]?: DeliveryMeta | ChangeMeta;
}

/** Read once, however often it is asked for. @throws AdbindError `job_unreadable` for a row that was written by somebody else's hand */
export function metaOf(job: WithMeta): DeliveryMeta | ChangeMeta {
  job[READ] ??= metaIn(job);
  return job[READ];
}

/** The meta of a delivery; undefined for what is none, or cannot be read. */
export function readableMeta(job: WithMeta): DeliveryMeta | undefined {
  try {
    const meta = metaOf(job);
    return isChange(meta) ? undefined : meta;
  } catch {
    return undefined;
  }
}

function metaIn({ id, meta }: Pick<JobRecord, "id" | "meta">): DeliveryMeta | ChangeMeta {
  // Nothing is stored so: its row is not found, or the day's partition that has it.
  if (meta === "") throw unreadable(id, GONE);
  let read: unknown;
  try {
    read = JSON.parse(meta);
  } catch (cause) {
    throw unreadable(id, "its meta is no JSON", cause);
  }
  const { kind, taskId, url, principal, subject, target, undeliverable = "" } = (read ?? {}) as Record<string, unknown>;
  if (kind === "change" && isStorable(taskId)) return read as ChangeMeta;
  // What became of the event could not be written else.
  if ([url, principal, subject, undeliverable].every(isStorable) && isTarget(target)) return read as DeliveryMeta;
  throw unreadable(id, "its meta says neither where it goes nor for whom");
}

function isTarget(target: unknown): target is TargetRef {
  if (typeof target !== "object" || target === null) return false;
  if ("task" in target) return isStorable(target.task) && "via" in target;
  if (!("channel" in target)) return false;
  const { resource, kind, subscriber } = (target.channel ?? {}) as Record<string, unknown>;
  return [resource, kind, subscriber].every(isStorable);
}

const GONE =
  "what is to be sent is not in the database any more: its row, or its day's partition, was taken away by hand";

const unreadable = (id: number, what: string, cause?: unknown): AdbindError =>
  new AdbindError("job_unreadable", what, { where: `event ${id}`, ...(cause !== undefined && { cause }) });

export const isChange = (meta: DeliveryMeta | ChangeMeta): meta is ChangeMeta => "kind" in meta;
