/**
 * Tasks, channels and activity of a sender. On SQLite no statement waits, so that they fit into an application's own
 * synchronous transaction.
 */
import type { Coroutine } from "../db/coroutine.js";
import { hiddenTables, kept } from "../db/index.js";
import type { AnyDatabase } from "../db/open.js";
import type { Dialect, Query, Value } from "../db/types.js";
import { type NeededRowsTables, neededRowsTables } from "./needed-rows.js";
import { seen } from "./seen-rows.js";
import { type ActivityTables, activityTables, expiringTables } from "./sender-activity.js";
import { type BodyTables, bodyTables } from "./sender-bodies.js";
import type { ChannelKey, ChannelRow, NewTaskRow, TaskEndpoints, TaskTargetRow } from "./sender-rows.js";
import { type SecretTables, secretTables } from "./sender-secrets.js";
import { type UpkeepTables, upkeepTables } from "./sender-upkeep.js";
import { type ChangeTasks, newRevision, type SentTaskRow, type TaskChangesRequest } from "./sent-tasks.js";
import { taskChangesOn } from "./task-changes.js";

export type { NeededRows } from "./needed-rows.js";
export type { ChannelKey, ChannelRow, NewTaskRow, TaskEndpoints, TaskTargetRow } from "./sender-rows.js";

export interface CoalescingRow {
  readonly resource: string;
  /** Changes in one slot become one event. */
  readonly slot: string;
  readonly notification_id: string;
  readonly event_type: string;
  readonly payload: string;
  readonly due: number;
}

export interface SenderTables extends SecretTables, UpkeepTables, BodyTables, NeededRowsTables, ActivityTables {
  /** Each statement is a journey to a server. */
  readonly remote: boolean;
  /** Holds a principal here to the end of the transaction; where the database is alone there is nothing to hold. */
  hold?(tx: Query, principal: string): Coroutine<void>;
  /** Also locks it. */
  task(tx: Query, taskId: string): Coroutine<SentTaskRow[]>;
  changeTasks: ChangeTasks;
  /**
   * The same in one statement that is its own transaction and waits for no row; where that is worth it.
   * @param principals whose tasks they are: in one of several databases nothing is written unless all of them are here
   */
  changeTasksAtOnce?(tx: Query, request: TaskChangesRequest, principals: readonly string[]): ReturnType<ChangeTasks>;
  /** Which of them there are, whoever holds them, and whose they are. */
  knownTasks(tx: Query, taskIds: readonly string[]): Coroutine<Pick<SentTaskRow, "task_id" | "principal">[]>;
  /** Where events of tasks go now. Locks nothing. */
  taskTargets(tx: Query, taskIds: readonly string[]): Coroutine<TaskTargetRow[]>;
  /** Adds tasks that are not there yet. @returns those it added */
  addTasks(tx: Query, rows: readonly NewTaskRow[]): Coroutine<{ task_id: string }[]>;
  setTaskDetails(tx: Query, taskId: string, details: string, endpoints: TaskEndpoints): Coroutine<unknown[]>;
  /** Removes a task, and what is known of its events by their dedup keys. */
  dropTask(tx: Query, taskId: string): Coroutine<void>;
  /** A channel of a resource that has one owner, or of one subscriber. Also locks it. */
  channel(tx: Query, resource: string, kind: string, subscriber?: string): Coroutine<ChannelRow[]>;
  /** Makes a channel the principal's, where there is none yet, and locks it. @returns it, whoever has it */
  claimChannel(tx: Query, key: ChannelKey, principal: string): Coroutine<ChannelRow>;
  /** Channels of a kind that are not closed: everybody's, or a principal's. Locks nothing. */
  subscribers(tx: Query, resource: string, kind: string, principal?: string): Coroutine<ChannelRow[]>;
  /** Channels as they are now. Locks nothing. */
  channelTargets(tx: Query, keys: readonly ChannelKey[]): Coroutine<ChannelRow[]>;
  putChannel(tx: Query, row: ChannelRow): Coroutine<unknown[]>;
  /**
   * Channels of some kinds that have something to do at a time, locked: the first of each principal, then the second of each ...;
   * without those that another transaction holds.
   */
  dueChannels(tx: Query, kinds: readonly string[], now: number, limit: number): Coroutine<ChannelRow[]>;
  /** Queues an event, or takes the place of the one that waits in its slot; the earlier of the two times holds. */
  coalesce(tx: Query, row: CoalescingRow): Coroutine<unknown[]>;
  waiting(tx: Query, resource: string): Coroutine<CoalescingRow[]>;
  /** Resources with events that are due, in the same way; null where none has the channel. */
  dueCoalesced(tx: Query, now: number, limit: number): Coroutine<{ resource: string; principal: string | null }[]>;
  /** Removes and answers the events of a resource that are due. */
  takeCoalesced(tx: Query, resource: string, now: number): Coroutine<CoalescingRow[]>;
  /** What there is to do for upkeep, in one statement. */
  due(tx: Query, now: number): Coroutine<DueWork>;
}

export interface DueWork {
  readonly coalesced: boolean;
  readonly reports: boolean;
  readonly proofs: boolean;
  readonly secrets: boolean;
  /** For each of `expiring`. */
  readonly expired: readonly boolean[];
}

const run = <Row>(q: Query, text: string, values: readonly Value[]): Coroutine<Row[]> => q.rows<Row>(text, values);

const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");

const list = (columns: readonly string[]): string =>
  `(${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`;

const channelColumns = [
  ...["resource", "kind", "subscriber", "principal", "config", "sequence"],
  ...["period_start", "next_fire", "closed", "closed_at", "release", "endpoint"],
] as const satisfies readonly (keyof ChannelRow)[];

/**
 * By the index that has no closed ones: somebody may have left thousands of those. What it says of the resource is of no use to
 * the primary key, which has them all and which planners like better.
 */
const OPEN_CHANNELS =
  "select * from adbind_channels where case when closed <> 2 then resource end = ? and kind = ? and closed <> 2";

const CHANNEL = "select * from adbind_channels where resource = ? and kind = ? and subscriber = ?";

export function senderTables({
  dialect,
  engine,
  where,
}: Pick<AnyDatabase, "dialect" | "engine" | "where">): SenderTables {
  const tables = tablesOn({ dialect, engine, where });
  return dialect.hiddenTables === undefined ? tables : seen(tables, where);
}

function tablesOn({ dialect, engine, where }: Pick<AnyDatabase, "dialect" | "engine" | "where">): SenderTables {
  const lock = dialect.forUpdate;
  const changeTasks = taskChangesOn[engine];
  return {
    ...taskTables(dialect),
    ...secretTables(dialect.forUpdateFree),
    ...upkeepTables(lock),
    ...bodyTables,
    ...neededRowsTables(dialect),
    due: dueIn(where),
    remote: dialect.remote,
    changeTasks,
    ...(dialect.remote && { changeTasksAtOnce: changeTasks }),
    channel: (tx, resource, kind, subscriber = "") => run(tx, `${CHANNEL}${lock}`, [resource, kind, subscriber]),
    *claimChannel(tx, { resource, kind, subscriber }, principal) {
      yield* run(
        tx,
        "insert into adbind_channels (resource, kind, subscriber, principal, config, endpoint) " +
          "values (?, ?, ?, ?, 'null', null) on conflict do nothing",
        [resource, kind, subscriber, principal],
      );
      const [row] = yield* run<ChannelRow>(tx, `${CHANNEL}${lock}`, [resource, kind, subscriber]);
      return row!;
    },
    subscribers: (tx, resource, kind, principal) =>
      principal === undefined
        ? run(tx, `${OPEN_CHANNELS} order by principal, subscriber`, [resource, kind])
        : run(tx, `${OPEN_CHANNELS} and principal = ? order by subscriber`, [resource, kind, principal]),
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
        `insert into adbind_channels ${list(channelColumns)} on conflict (resource, kind, subscriber) do update set ` +
          channelColumns
            .slice(3)
            .map((column) => `${column} = excluded.${column}`)
            .join(", "),
        channelColumns.map((column) => row[column]),
      ),
    dueChannels: dueChannelsOf(dialect),
    ...coalescingTables,
    ...activityTables(dialect),
  };
}

const taskTables = (
  dialect: Dialect,
): Pick<SenderTables, "task" | "knownTasks" | "taskTargets" | "addTasks" | "setTaskDetails" | "dropTask"> => {
  const targets = kept(
    `select task_id, principal, details, status from adbind_sent_tasks where ${dialect.among("task_id", "text")}`,
  );
  return {
    task: (tx, taskId) => run(tx, `select * from adbind_sent_tasks where task_id = ?${dialect.forUpdate}`, [taskId]),
    knownTasks: (tx, ids) =>
      run(tx, `select task_id, principal from adbind_sent_tasks where task_id in (${marks(ids)})`, ids),
    taskTargets: (tx, ids) => tx.rows(targets, [dialect.list(ids)]),
    addTasks: (tx, rows) =>
      run(
        tx,
        `insert into adbind_sent_tasks (${taskColumns.join(", ")}) values ` +
          `${rows.map(() => `(${taskColumns.map(() => "?").join(", ")})`).join(", ")} on conflict do nothing returning task_id`,
        rows.flatMap((row) => taskColumns.map((column) => row[column])),
      ),
    *dropTask(tx, taskId) {
      yield* tx.run("delete from adbind_sent_tasks where task_id = ?", [taskId]);
      yield* tx.run("delete from adbind_dedup where task_id = ?", [taskId]);
    },
    setTaskDetails: (tx, taskId, details, { push_endpoint, a2a_endpoint }) =>
      run(
        tx,
        "update adbind_sent_tasks set details = ?, revision = ?, push_endpoint = ?, a2a_endpoint = ? where task_id = ?",
        [details, newRevision(), push_endpoint, a2a_endpoint, taskId],
      ),
  };
};

const taskColumns = [
  "task_id",
  "principal",
  "tool",
  "status",
  "instant",
  "details",
  "expires",
  "revision",
  "push_endpoint",
  "a2a_endpoint",
] as const satisfies readonly (keyof NewTaskRow)[];

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
    run(
      tx,
      // Each owner by itself and by its key: a join of two large tables that were not analyzed yet may take minutes.
      `select resource, principal from (select resource, principal, due,
        row_number() over (partition by principal order by due) as turn from (select w.resource, w.due,
        (select c.principal from adbind_channels c where c.resource = w.resource and c.kind = 'events' and c.subscriber = '') as principal
        from (select resource, min(due) as due from adbind_coalescing where due <= ? group by resource) w) owned) all_due
        order by turn, due limit ?`,
      [now, limit],
    ),
  takeCoalesced: (tx, resource, now) =>
    run(tx, "delete from adbind_coalescing where resource = ? and due <= ? returning *", [resource, now]),
};

const dueChannelsOf =
  ({ forUpdateFree }: Pick<Dialect, "forUpdateFree">): SenderTables["dueChannels"] =>
  (tx, kinds, now, limit) =>
    run(
      tx,
      `with turns as (select * from (select resource, kind, subscriber, next_fire,
        row_number() over (partition by principal order by next_fire) as turn from adbind_channels
        where next_fire is not null and next_fire <= ? and kind in (${marks(kinds)})) all_due
        order by turn, next_fire limit ?)
        select c.* from turns d join adbind_channels c
        on c.resource = d.resource and c.kind = d.kind and c.subscriber = d.subscriber
        order by d.turn, d.next_fire${forUpdateFree}`,
      [now, ...kinds, limit],
    );

const dueIn = (where: string): SenderTables["due"] =>
  function* (tx, now) {
    const conditions = [
      "adbind_coalescing where due <= ?",
      "adbind_channels where next_fire is not null and next_fire <= ? and kind = 'reporting'",
      "adbind_channels where next_fire is not null and next_fire <= ? and kind <> 'reporting'",
      "adbind_sender_secrets where check_at <= ?",
      ...expiringTables(tx.dialect).map((table) => `${table} where expires <= ?`),
    ];
    const columns = conditions.map((condition, at) => `exists (select 1 from ${condition}) as c${at}`);
    // What is hidden is not due either, and nobody else may look for long.
    const text = `select ${columns.join(", ")}, ${tx.dialect.hiddenTables ?? "null"} as hidden`;
    const [row] = yield* run<Record<string, boolean | number> & { readonly hidden: string | null }>(
      tx,
      text,
      conditions.map(() => now),
    );
    if (row!.hidden !== null) throw hiddenTables("used", row!.hidden, where);
    const [coalesced, reports, proofs, secrets, ...expired] = conditions.map((_, at) => Boolean(row![`c${at}`]));
    return { coalesced: coalesced!, reports: reports!, proofs: proofs!, secrets: secrets!, expired };
  };
