/** The outbox as operators see it, and what they do to it. */
import { hash } from "node:crypto";
import { LIST_LIMIT_JOBS } from "../queue/jobs.js";
import type { JobFilter, JobGuard, ListedJob, Queue } from "../queue/types.js";
import type { Worker } from "../queue/worker-options.js";
import type { StoredRecord } from "./activity.js";
import { principalPart } from "./endpoint-names.js";
import { checkSoughtNames } from "./ids.js";
import { isKnown, namesNear, OR_AHEAD, unknownEndpoint } from "./known-endpoints.js";
import { type Moved, type MoveParts, moveEndpoint } from "./move.js";
import { isChange, metaOf, subjectOrderingKeys } from "./outbox.js";
import { redactUrl } from "./redact.js";

/** An event in the outbox as it may be shown: no credentials, no secrets of its URL. */
export interface OutboxEntry {
  readonly id: number;
  readonly key: string;
  /**
   * `dead`: attempted for a day. `expired`: never attempted, or not since it was replayed, because its endpoint failed all the time. `refused`: it cannot
   * be read or carried out; `error` says why.
   */
  readonly state: "waiting" | "out" | "dead" | "expired" | "refused";
  readonly type: string;
  readonly subject: string;
  /** Empty for a change that no sender has made an event of. */
  readonly url: string;
  readonly attempts: number;
  /** Unix milliseconds; null behind another event of its task, and where it has ended. */
  readonly due: number | null;
  readonly createdAt: number;
  readonly firstAt: number | null;
  readonly error: string | null;
  readonly bytes: number;
}

/** What is shown of a row's meta, whatever is in it. */
function shownMeta(
  job: Pick<ListedJob, "id" | "meta">,
): Pick<OutboxEntry, "type" | "subject" | "url"> & { readonly principal: string } {
  try {
    const meta = metaOf(job);
    if (isChange(meta)) return { type: "change", subject: meta.taskId, url: "", principal: "" };
    return { type: meta.type, subject: meta.subject, url: redactUrl(meta.url), principal: meta.principal };
  } catch {
    return { type: "unreadable", subject: "", url: "", principal: "" };
  }
}

const entryMeta = (job: Pick<ListedJob, "id" | "meta">) => {
  const { type, subject, url } = shownMeta(job);
  return { type, subject, url };
};

const toEntry = (job: ListedJob): OutboxEntry => ({
  ...entryMeta(job),
  id: job.id,
  key: job.key,
  state: job.state !== "ready" ? job.state : job.startedAt === null ? "waiting" : "out",
  attempts: job.attempts,
  due: job.state !== "ready" || job.due === Number.MAX_SAFE_INTEGER ? null : job.due,
  createdAt: job.createdAt,
  firstAt: job.firstAt,
  error: job.error,
  bytes: job.bytes,
});

/** Which events. */
export interface OutboxFilter extends Pick<JobFilter, "state" | "after" | "limit"> {
  /** Origin of the endpoints, e.g. `https://buyer.example`. */
  readonly origin?: string;
  /** As `endpoints` names it. */
  readonly endpoint?: string;
  readonly principal?: string;
  /** Id of a task or a media buy. */
  readonly task?: string;
  /** Made at this time or later, and before that one; unix milliseconds. */
  readonly from?: number;
  readonly to?: number;
}

/** Whether an event can have it: engines differ in what they say of others. */
const isNumber = (id: number): boolean => Number.isSafeInteger(id);

/** A whole number of rows: less than none is every row on one engine, and an error on another. */
export const boundedRows = (limit: number, least: number, most: number): number =>
  Number.isNaN(limit) ? most : Math.trunc(Math.min(Math.max(least, limit), most));

/** The same, of events that are listed already. */
export type EventsMeant = Omit<OutboxFilter, "after" | "limit">;

/** @throws AdbindError `event_invalid` for a name that nothing can have */
function jobFilterOf({ origin, endpoint, principal, task, ...rest }: OutboxFilter): Omit<JobFilter, "topic"> {
  checkSoughtNames({ origin, endpoint, principal, taskId: task });
  return {
    ...rest,
    ...(endpoint !== undefined && { endpoint }),
    ...(origin !== undefined && { endpointStart: `${origin} ` }),
    ...(principal !== undefined && { endpointPart: principalPart(principal) }),
    ...(task !== undefined && { orderingKeys: keysOf(task) }),
  };
}

/** Ordering keys of what is sent of a task or a buy, and of changes of it that an application stored by SQL. */
const keysOf = (task: string): string[] => [...subjectOrderingKeys(task), `change:${hash("md5", task)}`];

/** How many events there are, by what becomes of them. */
export interface OutboxCounts {
  readonly waiting: number;
  readonly dead: number;
  readonly expired: number;
  readonly refused: number;
}

/** One event with all that is known of it. */
export interface OutboxEvent extends OutboxEntry {
  readonly endpoint: string;
  readonly principal: string;
  /** As it is sent, but for a token: JSON; empty where it cannot be read. */
  readonly body: string;
  /** Why its body cannot be read. */
  readonly sealed?: string;
  /** Newest first, with what receivers answered. */
  readonly history: readonly StoredRecord[];
}

/** What operators do with events that wait or were given up. */
export interface Outbox {
  list(filter?: OutboxFilter): Promise<OutboxEntry[]>;
  /** One event and its attempts; undefined where there is none. */
  show(id: number): Promise<OutboxEvent | undefined>;
  counts(): Promise<OutboxCounts>;
  /** Has an event that waits for its next attempt tried now. False when there is none. */
  retry(id: number): Promise<boolean>;
  /** Gives an event that ended another day. False when there is none. */
  replay(id: number): Promise<boolean>;
  /**
   * Removes an event unsent: what is under way is sent, what is leased and waits for its turn is not; by another process it
   * is within the time in which leases are renewed. False when there is none.
   * @param meant what it has to be still: another operator may have sent it again, or moved it, since it was listed
   */
  drop(id: number, meant?: EventsMeant): Promise<boolean>;
  /**
   * Gives every registration at an endpoint another URL, with the credentials it has, and takes its events along; what is under
   * way is attempted there next. Called again after it was broken off, it finishes what was begun.
   * @param endpoint as `endpoints` names it
   * @param url with `{operation_id}` where each operation's own id is to stand
   * @throws AdbindError `registration_invalid` for a URL that no registration may have, or one of them cannot;
   * `endpoint_unknown` where nothing is known of the endpoint, nor of one there that its move would have come to
   */
  move(endpoint: string, url: string): Promise<Moved>;
  /** Endpoints that have events waiting, fail or are paused, by name; 100 at a time at most. @param page `after` a name */
  endpoints(page?: { readonly after?: string; readonly limit?: number }): Promise<EndpointEntry[]>;
  /**
   * Leaves an endpoint alone until `resume`; its events stay. What other processes have leased of it may be begun until they
   * renew their leases: 4 seconds, unless `worker.renewMs` says otherwise.
   * @param endpoint as `endpoints` names it
   * @param options `ahead`: whether anything is known of it or not, for what will be registered
   * @throws AdbindError `endpoint_unknown` where there is neither an event nor a registration of it
   */
  pause(endpoint: string, options?: { readonly ahead?: boolean }): Promise<void>;
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
  /**
   * `paused`: by an operator. `resting`: it fails, or asked for it, and is left alone until `restsUntil`. `failing`: it is tried,
   * and the last attempt failed.
   */
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
  checkSoughtNames({ endpoint: after });
  const records = await queue.endpoints({ after, limit: boundedRows(limit, 1, ENDPOINTS_LIMIT) });
  const entries: EndpointEntry[] = [];
  for (const { endpoint, pausedUntil, failingSince, stoppedAt, waiting, sample } of records) {
    const job = sample === null ? undefined : await queue.get(sample);
    const state =
      stoppedAt !== null
        ? "paused"
        : pausedUntil > now
          ? "resting"
          : failingSince !== null || (job?.error ?? null) !== null
            ? "failing"
            : "well";
    entries.push({
      ...{ endpoint, waiting, state, failingSince, error: job?.error ?? null },
      principal: job === undefined ? "" : shownMeta(job).principal,
      url: job === undefined ? "" : shownMeta(job).url,
      restsUntil: pausedUntil > now ? pausedUntil : null,
    });
  }
  return entries;
}

/** Attempts of one event are looked for among this many of its subject. */
const HISTORY_ROWS = 1_000;

async function showEvent({ queue, tables, bodies, now }: MoveParts, id: number): Promise<OutboxEvent | undefined> {
  const job = isNumber(id) ? await queue.get(id) : undefined;
  if (job === undefined || job.topic !== queue.topic) return undefined;
  const { principal, subject } = shownMeta(job);
  const rows = await queue.read((q) => tables.activity(q, { principal, subject }, { limit: HISTORY_ROWS, now: now() }));
  const records = rows.map(({ record }) => JSON.parse(record) as StoredRecord);
  const opened = bodies.open(job.body, { principal, key: job.key });
  return {
    ...toEntry({ ...job, bytes: job.body.length }),
    endpoint: job.endpoint,
    principal,
    body: opened.ok ? new TextDecoder().decode(opened.body) : "",
    ...(!opened.ok && { sealed: opened.why }),
    history: records.filter((record) => record.idempotency_key === job.key),
  };
}

/** Holds whose event it is, where the database is one of several: one that is on its way is somewhere else in a moment. */
async function changed(
  { queue, tables: { hold } }: MoveParts,
  id: number,
  change: (first: JobGuard | undefined) => Promise<boolean>,
): Promise<boolean> {
  if (!isNumber(id)) return false;
  const job = hold === undefined ? undefined : await queue.get(id);
  const principal = job === undefined ? "" : shownMeta(job).principal;
  return change(hold === undefined || principal === "" ? undefined : (q) => hold(q, principal));
}

/** What leases from the outbox in this process, where something does. */
export type OutboxWorker = Pick<Worker, "withdraw" | "resume">;

/** The name of an endpoint. @throws AdbindError `event_invalid` for one that nothing can have */
function checkedName(endpoint: string): string {
  checkSoughtNames({ endpoint });
  return endpoint;
}

export function outboxOf(parts: MoveParts, worker?: OutboxWorker): Outbox {
  const { queue, now } = parts;
  return {
    async list(filter = {}) {
      const { limit = LIST_LIMIT_JOBS } = filter;
      return (await queue.list({ ...jobFilterOf(filter), limit: boundedRows(limit, 0, LIST_LIMIT_JOBS) })).map(toEntry);
    },
    show: (id) => showEvent(parts, id),
    async counts() {
      const { ready: waiting, ...ended } = await queue.counts();
      return { waiting, ...ended };
    },
    retry: (id) => changed(parts, id, async (first) => (await queue.adjust({ kind: "hasten", id }, now(), first)) > 0),
    replay: (id) => changed(parts, id, (first) => queue.replay(id, now(), first)),
    async drop(id, meant = {}) {
      const dropped = await changed(parts, id, (first) => queue.drop(id, now(), { first, meant: jobFilterOf(meant) }));
      if (dropped) worker?.withdraw({ job: id });
      return dropped;
    },
    move: async (endpoint, url) => moveEndpoint(parts, checkedName(endpoint), url),
    endpoints: (page = {}) => listEndpoints(queue, now(), page),
    async pause(endpoint, { ahead = false } = {}) {
      checkSoughtNames({ endpoint });
      if (!ahead && !(await isKnown(parts, endpoint)))
        throw unknownEndpoint(endpoint, await namesNear(parts, endpoint), OR_AHEAD);
      await queue.stop(endpoint, now());
      worker?.withdraw({ endpoint });
    },
    resume: async (endpoint) => (worker ?? queue).resume(checkedName(endpoint)),
  };
}
