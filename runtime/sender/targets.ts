/**
 * Where a delivery goes, looked up at each attempt: what is queued follows an endpoint that moved or a secret that was
 * rotated, and never goes to a new owner of its task or resource.
 */
import type { MaybePromise } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import type { Queue } from "../queue/types.js";
import type { ChannelKey, ChannelRow, SenderTables, TaskTargetRow } from "../store/sender-tables.js";
import { authOf, type DeliveryAuth } from "./registration.js";
import type { TaskDetails } from "./task-details.js";
import type { A2aPushConfig, PushNotificationConfig } from "./types.js";

/** What says where a delivery goes: a channel of a task, or one that outlives tasks. */
export type TargetRef = { readonly task: string; readonly via: "push" | "a2a" } | { readonly channel: ChannelKey };

export interface DeliveryTarget {
  readonly url: string;
  readonly auth: DeliveryAuth;
  /** A2A's own token header. */
  readonly a2aToken?: string | undefined;
}

export type LookedUp =
  | { readonly kind: "found"; readonly target: DeliveryTarget }
  /** There is none any more, or it is another principal's: for good. */
  | { readonly kind: "gone"; readonly why: string };

export interface Targets {
  /** @throws what the database throws where it cannot be reached; AdbindError `job_unreadable` */
  find(of: TargetQuery): Promise<LookedUp>;
}

/** A delivery whose target is looked up. */
export interface TargetQuery {
  readonly target: TargetRef;
  readonly principal: string;
  /** The account it tells an agent of. */
  readonly account?: string;
}

/** May a principal be told of an account now? */
export type Authorized = (principal: string, account: string) => MaybePromise<boolean>;

interface Asked {
  readonly of: TargetQuery;
  readonly resolve: (found: LookedUp) => void;
  readonly reject: (error: unknown) => void;
}

/** Targets looked up in one statement: keeps its parameters to some hundreds. */
const BATCH_LIMIT = 128;

const nameOf = ({ resource, kind, subscriber }: ChannelKey): string => JSON.stringify([resource, kind, subscriber]);

/** Attempts that begin in the same turn of the event loop share their statements. */
export function createTargets(queue: Queue, tables: SenderTables, authorized: Authorized = () => true): Targets {
  const asked: Asked[] = [];
  const lookUp = (): void => {
    const batch = asked.splice(0, BATCH_LIMIT);
    if (asked.length > 0) setImmediate(lookUp);
    queue
      .read((q) => rowsOf(tables, q, batch))
      .then((rows) => {
        for (const one of batch) answer(one, rows);
      })
      .catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
      });
  };
  return {
    async find(of) {
      if (of.account !== undefined && !(await authorized(of.principal, of.account))) {
        return gone("its principal is not authorized for the account");
      }
      const { promise, resolve, reject } = Promise.withResolvers<LookedUp>();
      if (asked.length === 0) setImmediate(lookUp);
      asked.push({ of, resolve, reject });
      return await promise;
    },
  };
}

interface Rows {
  readonly tasks: ReadonlyMap<string, TaskTargetRow>;
  readonly channels: ReadonlyMap<string, ChannelRow>;
}

function* rowsOf(tables: SenderTables, q: Query, batch: readonly Asked[]): Coroutine<Rows> {
  const refs = batch.map(({ of }) => of.target);
  const ids = [...new Set(refs.flatMap((ref) => ("task" in ref ? [ref.task] : [])))];
  const keys = new Map(refs.flatMap((ref) => ("channel" in ref ? [[nameOf(ref.channel), ref.channel]] : [])));
  const tasks = ids.length === 0 ? [] : yield* tables.taskTargets(q, ids);
  const channels = keys.size === 0 ? [] : yield* tables.channelTargets(q, [...keys.values()]);
  return {
    tasks: new Map(tasks.map((row) => [row.task_id, row])),
    channels: new Map(channels.map((row) => [nameOf(row), row])),
  };
}

/** One row that cannot be read fails its own delivery. */
function answer({ of, resolve, reject }: Asked, rows: Rows): void {
  try {
    resolve(foundIn(of, rows));
  } catch (cause) {
    reject(new AdbindError("job_unreadable", "the registration it goes by cannot be read", { cause }));
  }
}

const gone = (why: string): LookedUp => ({ kind: "gone", why });

function foundIn({ target, principal }: Asked["of"], { tasks, channels }: Rows): LookedUp {
  const row = "task" in target ? tasks.get(target.task) : channels.get(nameOf(target.channel));
  if (row === undefined) return gone("its registration is not there any more");
  if (row.principal !== principal) return gone("its registration belongs to another principal now");
  const config = "details" in row ? configIn(row, target as { via: "push" | "a2a" }) : configOf(row);
  if (config == null) return gone("its channel was closed");
  const a2aToken = "via" in target && target.via === "a2a" ? config.token : undefined;
  return { kind: "found", target: { url: config.url, auth: authOf(config.authentication), a2aToken } };
}

const configIn = ({ details }: TaskTargetRow, { via }: { via: "push" | "a2a" }) =>
  (JSON.parse(details) as TaskDetails)[via] as PushNotificationConfig | A2aPushConfig | undefined;

/** A config of notifications is none while it is paused, or has not answered its challenge. */
const configOf = ({ config }: ChannelRow): PushNotificationConfig | null => {
  const read = JSON.parse(config) as (PushNotificationConfig & { proven?: boolean; active?: boolean }) | null;
  return read?.proven === false || read?.active === false ? null : read;
};
