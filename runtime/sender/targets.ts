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

interface Sought {
  readonly target: TargetRef;
  readonly principal: string;
}

export interface Targets {
  /** Looks up what is asked for soon. */
  expect(all: readonly Sought[]): void;
  /** @throws what the database throws where it cannot be reached; AdbindError `job_unreadable` */
  find(of: TargetQuery): Promise<LookedUp>;
}

/** A delivery whose target is looked up. */
export interface TargetQuery extends Sought {
  /** The account it tells an agent of. */
  readonly account?: string;
}

/** May a principal be told of an account now? */
export type Authorized = (principal: string, account: string) => MaybePromise<boolean>;

/** How old what was looked up ahead may be when an attempt goes by it, in milliseconds. */
const FRESH_MS = 1_000;
/** Targets looked up in one statement. */
const BATCH_LIMIT = 256;

const nameOf = ({ resource, kind, subscriber }: ChannelKey): string => JSON.stringify([resource, kind, subscriber]);

const keyOf = (ref: TargetRef): string => ("task" in ref ? `task ${ref.task}` : nameOf(ref.channel));

interface Looked {
  readonly at: number;
  readonly rows: Promise<Rows>;
}

/** Looked up for many at once, when their jobs are leased; by itself where the attempt is later than that. */
export function createTargets(queue: Queue, tables: SenderTables, authorized: Authorized = () => true): Targets {
  /** By target, the oldest first. */
  const looked = new Map<string, Looked>();
  const lookUp = (refs: readonly TargetRef[]): Promise<Rows> => {
    const found: Looked = { at: performance.now(), rows: queue.read((q) => rowsOf(tables, q, refs)) };
    for (const ref of refs) {
      looked.delete(keyOf(ref));
      looked.set(keyOf(ref), found);
    }
    return found.rows;
  };
  const forgetOld = (now: number): void => {
    for (const [key, { at }] of looked) {
      if (at > now - FRESH_MS) return;
      looked.delete(key);
    }
  };
  return {
    expect(all) {
      forgetOld(performance.now());
      for (let at = 0; at < all.length; at += BATCH_LIMIT) {
        const refs = all.slice(at, at + BATCH_LIMIT).map(({ target }) => target);
        // Whoever asks for one of them is told.
        lookUp(refs).catch(() => undefined);
      }
    },
    async find(of) {
      if (of.account !== undefined && !(await authorized(of.principal, of.account))) {
        return gone("its principal is not authorized for the account");
      }
      const known = looked.get(keyOf(of.target));
      const fresh = known !== undefined && known.at > performance.now() - FRESH_MS;
      return answerIn(of, await (fresh ? known.rows : lookUp([of.target])));
    },
  };
}

interface Rows {
  readonly tasks: ReadonlyMap<string, TaskTargetRow>;
  readonly channels: ReadonlyMap<string, ChannelRow>;
}

function* rowsOf(tables: SenderTables, q: Query, refs: readonly TargetRef[]): Coroutine<Rows> {
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
function answerIn(of: Sought, rows: Rows): LookedUp {
  try {
    return foundIn(of, rows);
  } catch (cause) {
    throw new AdbindError("job_unreadable", "the registration it goes by cannot be read", { cause });
  }
}

const gone = (why: string): LookedUp => ({ kind: "gone", why });

function foundIn({ target, principal }: Sought, { tasks, channels }: Rows): LookedUp {
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
