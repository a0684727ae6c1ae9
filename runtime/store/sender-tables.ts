/**
 * Tasks, channels and activity of a sender. On SQLite no statement waits, so that they fit into an application's own
 * synchronous transaction.
 */
import type { Coroutine } from "../db/coroutine.js";
import type { Database, Locking, Query, Value } from "../db/types.js";
import type { ExpiringIn } from "./expiry.js";

export interface SentTaskRow {
  readonly task_id: string;
  readonly principal: string;
  readonly tool: string;
  readonly status: string;
  /** ISO 8601 of the last event. */
  readonly instant: string;
  /** JSON of the channels and what is echoed. */
  readonly details: string;
  readonly expires: number;
}

/** What an event changes of its task. */
export type TaskChange = Pick<SentTaskRow, "task_id" | "status" | "instant" | "expires">;

/** Events made under a dedup key. */
export interface DedupRow {
  readonly task_id: string;
  readonly dedup_key: string;
  /** Of the content. */
  readonly digest: string;
  /** JSON of the events' idempotency keys. */
  readonly keys: string;
  readonly expires: number;
}

export interface ChannelRow {
  readonly resource: string;
  readonly kind: string;
  /** The principal, where a resource may have several; empty where it has one owner. */
  readonly subscriber: string;
  readonly principal: string;
  readonly config: string;
  readonly sequence: number;
  readonly period_start: number | null;
  readonly next_fire: number | null;
  readonly closed: number;
}

/** A channel by its key. */
export type ChannelKey = Pick<ChannelRow, "resource" | "kind" | "subscriber">;

/** Where the events of a task go, and whose it is. */
export type TaskTargetRow = Pick<SentTaskRow, "task_id" | "principal" | "details">;

export interface CoalescingRow {
  readonly resource: string;
  /** Changes in one slot become one event. */
  readonly slot: string;
  readonly notification_id: string;
  readonly event_type: string;
  readonly payload: string;
  readonly due: number;
}

export interface ActivityRow {
  readonly principal: string;
  readonly subject: string;
  readonly record: string;
  readonly expires: number;
}

export interface SenderTables {
  /**
   * Also locks them, in their order: events of one task are made one after the other. With `skip`, those that another
   * transaction holds are left out.
   */
  tasks(tx: Query, taskIds: readonly string[], locking?: Locking): Coroutine<SentTaskRow[]>;
  /** Which of them there are, whoever holds them, and whose they are. */
  knownTasks(tx: Query, taskIds: readonly string[]): Coroutine<Pick<SentTaskRow, "task_id" | "principal">[]>;
  /** Where events of tasks go now. Locks nothing. */
  taskTargets(tx: Query, taskIds: readonly string[]): Coroutine<TaskTargetRow[]>;
  /** What was made under dedup keys of tasks. The tasks are locked. */
  dedups(tx: Query, taskIds: readonly string[], dedupKeys: readonly string[]): Coroutine<DedupRow[]>;
  addDedups(tx: Query, rows: readonly DedupRow[]): Coroutine<unknown[]>;
  /** Adds tasks that are not there yet. @returns those it added */
  addTasks(tx: Query, rows: readonly SentTaskRow[]): Coroutine<{ task_id: string }[]>;
  setTasks(tx: Query, rows: readonly TaskChange[]): Coroutine<unknown[]>;
  setTaskDetails(tx: Query, taskId: string, details: string): Coroutine<unknown[]>;
  /** A channel of a resource that has one owner, or of one subscriber. Also locks it. */
  channel(tx: Query, resource: string, kind: string, subscriber?: string): Coroutine<ChannelRow[]>;
  /** Makes a media buy the principal's, where it is nobody's yet, and locks it. @returns whose it is */
  claimBuy(tx: Query, resource: string, principal: string): Coroutine<string>;
  /** Everybody's channels of a kind. Locks nothing. */
  subscribers(tx: Query, resource: string, kind: string): Coroutine<ChannelRow[]>;
  /** Channels as they are now. Locks nothing. */
  channelTargets(tx: Query, keys: readonly ChannelKey[]): Coroutine<ChannelRow[]>;
  putChannel(tx: Query, row: ChannelRow): Coroutine<unknown[]>;
  dueChannels(tx: Query, now: number, limit: number): Coroutine<ChannelRow[]>;
  /** Queues an event, or takes the place of the one that waits in its slot; the earlier of the two times holds. */
  coalesce(tx: Query, row: CoalescingRow): Coroutine<unknown[]>;
  waiting(tx: Query, resource: string): Coroutine<CoalescingRow[]>;
  dueCoalesced(tx: Query, now: number, limit: number): Coroutine<{ resource: string }[]>;
  /** Removes and answers the events of a resource that are due. */
  takeCoalesced(tx: Query, resource: string, now: number): Coroutine<CoalescingRow[]>;
  log(tx: Query, rows: readonly ActivityRow[]): Coroutine<void>;
  activity(tx: Query, principal: string, subject: string, limit: number): Coroutine<{ record: string }[]>;
  /** Jobs of a subject that are out, by what their `meta` says. */
  pendingJobs(tx: Query, topic: string, orderingKeys: readonly string[]): Coroutine<PendingJobRow[]>;
  readonly expiring: readonly ExpiringIn<Query>[];
}

export interface PendingJobRow {
  readonly key: string;
  readonly attempts: number;
  readonly started_at: number;
  readonly meta: string;
}

const run = <Row>(q: Query, text: string, values: readonly Value[]): Coroutine<Row[]> => q.rows<Row>(text, values);

const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");

const list = (columns: readonly string[]): string =>
  `(${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`;

/** Rows logged in one statement; keeps its text to a few shapes. */
const LOG_ROWS = 64;

export function senderTables({ dialect }: Pick<Database, "dialect">): SenderTables {
  const lock = dialect.forUpdate;
  const columns = [
    ...["resource", "kind", "subscriber", "principal", "config", "sequence"],
    ...["period_start", "next_fire", "closed"],
  ];
  return {
    ...taskTables(lock),
    ...dedupTables,
    setTaskDetails: (tx, taskId, details) =>
      run(tx, "update adbind_sent_tasks set details = ? where task_id = ?", [details, taskId]),
    channel: (tx, resource, kind, subscriber = "") =>
      run(tx, `select * from adbind_channels where resource = ? and kind = ? and subscriber = ?${lock}`, [
        ...[resource, kind, subscriber],
      ]),
    *claimBuy(tx, resource, principal) {
      const key = "resource = ? and kind = 'buy' and subscriber = ''";
      yield* run(
        tx,
        "insert into adbind_channels (resource, kind, subscriber, principal, config) values (?, 'buy', '', ?, 'null') " +
          "on conflict do nothing",
        [resource, principal],
      );
      const [row] = yield* run<ChannelRow>(tx, `select * from adbind_channels where ${key}${lock}`, [resource]);
      return row!.principal;
    },
    subscribers: (tx, resource, kind) =>
      run(tx, "select * from adbind_channels where resource = ? and kind = ? order by subscriber", [resource, kind]),
    channelTargets: (tx, keys) =>
      run(
        tx,
        "select * from adbind_channels where (resource, kind, subscriber) in " +
          `(values ${keys.map(() => "(?, ?, ?)").join(", ")})`,
        keys.flatMap(({ resource, kind, subscriber }) => [resource, kind, subscriber]),
      ),
    putChannel: (tx, row) =>
      run(
        tx,
        `insert into adbind_channels ${list(columns)} on conflict (resource, kind, subscriber) do update set ` +
          columns
            .slice(3)
            .map((column) => `${column} = excluded.${column}`)
            .join(", "),
        columns.map((column) => row[column as keyof ChannelRow]),
      ),
    dueChannels: (tx, now, limit) =>
      run(
        tx,
        "select * from adbind_channels where next_fire is not null and next_fire <= ? order by next_fire limit ?",
        [now, limit],
      ),
    ...coalescingTables,
    ...activityTables,
  };
}

/** Tasks that many callers change at a time share a statement; each is one of as many texts as there are sizes. */
const taskTables = (
  lock: string,
): Pick<SenderTables, "tasks" | "knownTasks" | "taskTargets" | "addTasks" | "setTasks"> => ({
  tasks: (tx, ids, locking = "wait") => {
    const skip = lock !== "" && locking === "skip" ? " skip locked" : "";
    return run(
      tx,
      `select * from adbind_sent_tasks where task_id in (${marks(ids)}) order by task_id${lock}${skip}`,
      ids,
    );
  },
  knownTasks: (tx, ids) =>
    run(tx, `select task_id, principal from adbind_sent_tasks where task_id in (${marks(ids)})`, ids),
  taskTargets: (tx, ids) =>
    run(tx, `select task_id, principal, details from adbind_sent_tasks where task_id in (${marks(ids)})`, ids),
  addTasks: (tx, rows) =>
    run(
      tx,
      "insert into adbind_sent_tasks (task_id, principal, tool, status, instant, details, expires) " +
        `values ${rows.map(() => "(?, ?, ?, ?, ?, ?, ?)").join(", ")} on conflict do nothing returning task_id`,
      rows.flatMap((row) => [row.task_id, row.principal, row.tool, row.status, row.instant, row.details, row.expires]),
    ),
  setTasks: (tx, rows) =>
    run(
      tx,
      "update adbind_sent_tasks set status = v.column2, instant = v.column3, expires = v.column4 " +
        `from (values ${rows.map(() => "(?, ?, ?, cast(? as bigint))").join(", ")}) as v where task_id = v.column1`,
      rows.flatMap((row) => [row.task_id, row.status, row.instant, row.expires]),
    ),
});

const dedupTables: Pick<SenderTables, "dedups" | "addDedups"> = {
  dedups: (tx, tasks, keys) =>
    run(tx, `select * from adbind_dedup where task_id in (${marks(tasks)}) and dedup_key in (${marks(keys)})`, [
      ...tasks,
      ...keys,
    ]),
  addDedups: (tx, rows) =>
    run(
      tx,
      `insert into adbind_dedup (task_id, dedup_key, digest, keys, expires) values ${rows.map(() => "(?, ?, ?, ?, ?)").join(", ")}`,
      rows.flatMap((row) => [row.task_id, row.dedup_key, row.digest, row.keys, row.expires]),
    ),
};

const coalescingTables: Pick<SenderTables, "coalesce" | "waiting" | "dueCoalesced" | "takeCoalesced"> = {
  coalesce: (tx, row) =>
    run(
      tx,
      `insert into adbind_coalescing ${list(["resource", "slot", "notification_id", "event_type", "payload", "due"])} ` +
        "on conflict (resource, slot) do update set notification_id = excluded.notification_id, " +
        "payload = excluded.payload, event_type = excluded.event_type, " +
        "due = case when excluded.due < adbind_coalescing.due then excluded.due else adbind_coalescing.due end",
      [row.resource, row.slot, row.notification_id, row.event_type, row.payload, row.due],
    ),
  waiting: (tx, resource) => run(tx, "select * from adbind_coalescing where resource = ? order by due", [resource]),
  dueCoalesced: (tx, now, limit) =>
    run(tx, "select resource from adbind_coalescing where due <= ? order by due limit ?", [now, limit]),
  takeCoalesced: (tx, resource, now) =>
    run(tx, "delete from adbind_coalescing where resource = ? and due <= ? returning *", [resource, now]),
};

const expiringOf = (table: string, key: string, what: string): ExpiringIn<Query> => ({
  what,
  *remove(tx, now, limit) {
    const columns = key.replace(/[()]/g, "");
    const oldest = `select ${columns} from ${table} where expires <= ? order by expires limit ?`;
    return (yield* run(tx, `delete from ${table} where ${key} in (${oldest}) returning 1`, [now, limit])).length;
  },
});

/** Many rows in statements of a few. */
const log: SenderTables["log"] = function* (tx, rows) {
  for (let at = 0; at < rows.length; at += LOG_ROWS) {
    const part = rows.slice(at, at + LOG_ROWS);
    yield* run(
      tx,
      `insert into adbind_activity (principal, subject, record, expires) values ${part.map(() => "(?, ?, ?, ?)").join(", ")}`,
      part.flatMap((row) => [row.principal, row.subject, row.record, row.expires]),
    );
  }
};

const activityTables: Pick<SenderTables, "log" | "activity" | "pendingJobs" | "expiring"> = {
  log,
  activity: (tx, principal, subject, limit) =>
    run(tx, "select record from adbind_activity where principal = ? and subject = ? order by id desc limit ?", [
      principal,
      subject,
      limit,
    ]),
  pendingJobs: (tx, topic, keys) =>
    run(
      tx,
      `select key, attempts, started_at, meta from adbind_jobs where topic = ? and ordering_key in (${marks(keys)}) ` +
        "and state = 'ready' and started_at is not null and token is not null",
      [topic, ...keys],
    ),
  expiring: [
    expiringOf("adbind_activity", "id", "old webhook activity"),
    expiringOf("adbind_sent_tasks", "task_id", "expired tasks"),
    expiringOf("adbind_dedup", "(task_id, dedup_key)", "expired dedup keys"),
  ],
};
