/** Configs of registrations as their rows have them, looked up many at a time. */
import type { Coroutine, Query } from "../db/index.js";
import type { ChannelKey, ChannelRow, SenderTables, TaskTargetRow } from "../store/sender-tables.js";
import { channelRegistration, type StoredConfig, type TaskVia, taskRegistration } from "./registered-config.js";
import type { TaskDetails } from "./task-details.js";

/** What says where a delivery goes: a channel of a task, or one that outlives tasks. */
export type TargetRef = { readonly task: string; readonly via: TaskVia } | { readonly channel: ChannelKey };

export const registrationOf = (target: TargetRef): string =>
  "task" in target ? taskRegistration(target.via, target.task) : channelRegistration(target.channel);

/** Rows by what refers to them. */
export type RegisteredRows = (target: TargetRef) => TaskTargetRow | ChannelRow | undefined;

/** In one statement for tasks and one for channels. */
export function* registeredRows(tables: SenderTables, q: Query, refs: readonly TargetRef[]): Coroutine<RegisteredRows> {
  const ids = [...new Set(refs.flatMap((ref) => ("task" in ref ? [ref.task] : [])))];
  const keys = new Map(
    refs.flatMap((ref) => ("channel" in ref ? [[channelRegistration(ref.channel), ref.channel]] : [])),
  );
  const tasks = ids.length === 0 ? [] : yield* tables.taskTargets(q, ids);
  const channels = keys.size === 0 ? [] : yield* tables.channelTargets(q, [...keys.values()]);
  const task = new Map(tasks.map((row) => [row.task_id, row]));
  const channel = new Map(channels.map((row) => [channelRegistration(row), row]));
  return (ref) => ("task" in ref ? task.get(ref.task) : channel.get(channelRegistration(ref.channel)));
}

type Configured = TaskDetails | StoredConfig | null;

/** What was read of a row stays on it, as of a job (outbox.ts). */
const READ = Symbol("read");

type RegisteredRow = (TaskTargetRow | ChannelRow) & { [READ]?: Configured };

/** Read once, however often it is asked for: when it is leased, and when it is attempted. */
function configuredIn(row: RegisteredRow): Configured {
  const known = row[READ];
  if (known !== undefined) return known;
  const configured = JSON.parse("details" in row ? row.details : row.config) as Configured;
  row[READ] = configured;
  return configured;
}

/** @returns nothing where a channel was closed. Throws on a row that cannot be read */
export const configIn = (row: TaskTargetRow | ChannelRow, target: TargetRef): StoredConfig | null | undefined =>
  "details" in row
    ? (configuredIn(row) as TaskDetails)["via" in target ? target.via : "push"]
    : (configuredIn(row) as StoredConfig | null);

/** The same for a row that may be missing or broken: undefined then. */
export function readableConfig(rows: RegisteredRows, target: TargetRef): StoredConfig | undefined {
  const row = rows(target);
  try {
    return row === undefined ? undefined : (configIn(row, target) ?? undefined);
  } catch {
    return undefined;
  }
}

export function* storedConfigs(
  tables: SenderTables,
  q: Query,
  refs: readonly TargetRef[],
): Coroutine<(target: TargetRef) => StoredConfig | undefined> {
  const rows = yield* registeredRows(tables, q, refs);
  return (target) => readableConfig(rows, target);
}
