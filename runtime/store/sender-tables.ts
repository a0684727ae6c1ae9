/**
 * Tasks, channels and activity of a sender. The statements are the same on both databases, written with `?`; on SQLite
 * nothing is a promise, so that they fit into an application's own synchronous transaction.
 */
import type { Database, Statement } from "better-sqlite3";
import { CompiledQuery } from "kysely";
import { type Flow, settle } from "../signing/flow.js";
import type { ExpiringIn } from "./expiry.js";
import type { Tx as PostgresTx } from "./postgres/tables.js";
import type { MaybePromise } from "./types.js";

type Value = string | number | null;

/** Runs one statement in a transaction and answers its rows. */
export type Runner<Tx> = <Row>(tx: Tx, text: string, values: readonly Value[]) => MaybePromise<Row[]>;

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

export interface ChannelRow {
  readonly resource: string;
  readonly kind: string;
  readonly principal: string;
  readonly config: string;
  readonly sequence: number;
  readonly period_start: number | null;
  readonly next_fire: number | null;
  readonly closed: number;
}

export interface CoalescingRow {
  readonly resource: string;
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

export interface SenderTables<Tx> {
  /** Also locks them, in their order: events of one task are made one after the other. */
  tasks(tx: Tx, taskIds: readonly string[]): MaybePromise<SentTaskRow[]>;
  /** Adds tasks that are not there yet. */
  addTasks(tx: Tx, rows: readonly SentTaskRow[]): MaybePromise<unknown>;
  setTasks(tx: Tx, rows: readonly TaskChange[]): MaybePromise<unknown>;
  setTaskDetails(tx: Tx, taskId: string, details: string): MaybePromise<unknown>;
  /** Also locks it. */
  channel(tx: Tx, resource: string, kind: string): MaybePromise<ChannelRow[]>;
  putChannel(tx: Tx, row: ChannelRow): MaybePromise<unknown>;
  dueChannels(tx: Tx, now: number, limit: number): MaybePromise<ChannelRow[]>;
  /** Queues an event, or replaces the payload of one that waits; the earlier of the two times holds. */
  coalesce(tx: Tx, row: CoalescingRow): MaybePromise<unknown>;
  waiting(tx: Tx, resource: string): MaybePromise<CoalescingRow[]>;
  dueCoalesced(tx: Tx, now: number, limit: number): MaybePromise<{ resource: string }[]>;
  /** Removes and answers the events of a resource that are due. */
  takeCoalesced(tx: Tx, resource: string, now: number): MaybePromise<CoalescingRow[]>;
  log(tx: Tx, rows: readonly ActivityRow[]): Flow<void>;
  activity(tx: Tx, principal: string, subject: string, limit: number): MaybePromise<{ record: string }[]>;
  /** Jobs of a subject that are out, by what their `meta` says. */
  pendingJobs(tx: Tx, topic: string, lanePrefix: string): MaybePromise<PendingJobRow[]>;
  readonly expiring: readonly ExpiringIn<Tx>[];
}

export interface PendingJobRow {
  readonly key: string;
  readonly attempts: number;
  readonly started_at: number;
  readonly meta: string;
}

/** Statements on SQLite, prepared once. */
export const sqliteRunner = (): Runner<Database> => {
  const prepared = new WeakMap<Database, Map<string, Statement<Value[]>>>();
  return <Row>(db: Database, text: string, values: readonly Value[]): Row[] => {
    let statements = prepared.get(db);
    if (statements === undefined) {
      statements = new Map();
      prepared.set(db, statements);
    }
    let statement = statements.get(text);
    if (statement === undefined) {
      statement = db.prepare<Value[]>(text);
      statements.set(text, statement);
    }
    if (statement.reader) return statement.all(...values) as Row[];
    statement.run(...values);
    return [];
  };
};

const numbered = new Map<string, string>();
/** A statement as PostgreSQL reads it: `$1` for the first `?`. */
export const numberedText = (text: string): string => {
  let known = numbered.get(text);
  if (known === undefined) {
    let count = 0;
    known = text.replaceAll("?", () => `$${++count}`);
    numbered.set(text, known);
  }
  return known;
};

export const postgresRunner: Runner<PostgresTx> = async <Row>(
  tx: PostgresTx,
  text: string,
  values: readonly Value[],
): Promise<Row[]> => {
  const result = await tx.executeQuery<Row>(CompiledQuery.raw(numberedText(text), [...values]));
  return result.rows;
};

const list = (columns: readonly string[]): string =>
  `(${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`;

/** Rows logged in one statement; keeps its text to a few shapes. */
const LOG_ROWS = 64;

/**
 * @param lock `for update` where rows are locked one by one; empty on SQLite, whose transactions exclude each other
 */
export function senderTables<Tx>(run: Runner<Tx>, lock: "" | " for update"): SenderTables<Tx> {
  const channelColumns = ["resource", "kind", "principal", "config", "sequence", "period_start", "next_fire", "closed"];
  return {
    ...taskTables(run, lock),
    setTaskDetails: (tx, taskId, details) =>
      run(tx, "update adbind_sent_tasks set details = ? where task_id = ?", [details, taskId]),
    channel: (tx, resource, kind) =>
      run(tx, `select * from adbind_channels where resource = ? and kind = ?${lock}`, [resource, kind]),
    putChannel: (tx, row) =>
      run(
        tx,
        `insert into adbind_channels ${list(channelColumns)} on conflict (resource, kind) do update set ` +
          channelColumns
            .slice(2)
            .map((column) => `${column} = excluded.${column}`)
            .join(", "),
        [row.resource, row.kind, row.principal, row.config, row.sequence, row.period_start, row.next_fire, row.closed],
      ),
    dueChannels: (tx, now, limit) =>
      run(
        tx,
        "select * from adbind_channels where next_fire is not null and next_fire <= ? order by next_fire limit ?",
        [now, limit],
      ),
    ...coalescingTables(run),
    ...activityTables(run),
  };
}

/** Tasks that many callers change at a time share a statement; each is one of as many texts as there are sizes. */
const taskTables = <Tx>(run: Runner<Tx>, lock: string): Pick<SenderTables<Tx>, "tasks" | "addTasks" | "setTasks"> => ({
  tasks: (tx, ids) =>
    run(
      tx,
      `select * from adbind_sent_tasks where task_id in (${ids.map(() => "?").join(", ")}) order by task_id${lock}`,
      ids,
    ),
  addTasks: (tx, rows) =>
    run(
      tx,
      "insert into adbind_sent_tasks (task_id, principal, tool, status, instant, details, expires) " +
        `values ${rows.map(() => "(?, ?, ?, ?, ?, ?, ?)").join(", ")} on conflict do nothing`,
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

const coalescingTables = <Tx>(
  run: Runner<Tx>,
): Pick<SenderTables<Tx>, "coalesce" | "waiting" | "dueCoalesced" | "takeCoalesced"> => ({
  coalesce: (tx, row) =>
    run(
      tx,
      `insert into adbind_coalescing ${list(["resource", "notification_id", "event_type", "payload", "due"])} ` +
        "on conflict (resource, notification_id) do update set payload = excluded.payload, event_type = excluded.event_type, " +
        "due = case when excluded.due < adbind_coalescing.due then excluded.due else adbind_coalescing.due end",
      [row.resource, row.notification_id, row.event_type, row.payload, row.due],
    ),
  waiting: (tx, resource) => run(tx, "select * from adbind_coalescing where resource = ? order by due", [resource]),
  dueCoalesced: (tx, now, limit) =>
    run(tx, "select resource from adbind_coalescing where due <= ? order by due limit ?", [now, limit]),
  takeCoalesced: (tx, resource, now) =>
    run(tx, "delete from adbind_coalescing where resource = ? and due <= ? returning *", [resource, now]),
});

const activityTables = <Tx>(
  run: Runner<Tx>,
): Pick<SenderTables<Tx>, "log" | "activity" | "pendingJobs" | "expiring"> => ({
  log: logger(run),
  activity: (tx, principal, subject, limit) =>
    run(tx, "select record from adbind_activity where principal = ? and subject = ? order by id desc limit ?", [
      principal,
      subject,
      limit,
    ]),
  pendingJobs: (tx, topic, lane) =>
    run(
      tx,
      "select key, attempts, started_at, meta from adbind_jobs where topic = ? and lane = ? and state = 'ready' " +
        "and started_at is not null and claim is not null",
      [topic, lane],
    ),
  expiring: [expiringOf(run, "adbind_activity", "id"), expiringOf(run, "adbind_sent_tasks", "task_id")],
});

const expiringOf = <Tx>(run: Runner<Tx>, table: string, key: string): ExpiringIn<Tx> => ({
  what: table === "adbind_activity" ? "old webhook activity" : "expired tasks",
  *remove(tx, now, limit) {
    const oldest = `select ${key} from ${table} where expires <= ? order by expires limit ?`;
    return (yield* settle(run(tx, `delete from ${table} where ${key} in (${oldest}) returning ${key}`, [now, limit])))
      .length;
  },
});

/** Many rows in statements of a few. */
const logger = <Tx>(run: Runner<Tx>): SenderTables<Tx>["log"] =>
  function* (tx, rows) {
    for (let at = 0; at < rows.length; at += LOG_ROWS) {
      const part = rows.slice(at, at + LOG_ROWS);
      yield* settle(
        run(
          tx,
          `insert into adbind_activity (principal, subject, record, expires) values ${part.map(() => "(?, ?, ?, ?)").join(", ")}`,
          part.flatMap((row) => [row.principal, row.subject, row.record, row.expires]),
        ),
      );
    }
  };
