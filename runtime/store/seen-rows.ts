/**
 * Rows that are hidden while a sender runs, by row level security that an administrator has switched on, are as if they were not
 * there: changes of tasks would be told to nobody, and events set aside. So who finds less than was asked for looks whether it is
 * that. What is found costs no journey more.
 */
import type { Coroutine } from "../db/coroutine.js";
import { refuseHiddenTables } from "../db/index.js";
import type { Query } from "../db/types.js";
import type { ChannelKey, ChannelRow, TaskTargetRow } from "./sender-rows.js";
import type { SecretRow } from "./sender-secrets.js";
import type { ChangeTasks, SentTaskRow, TaskChangesRequest } from "./sent-tasks.js";

/** Where what is not found counts as not there. */
interface LookedUpRows {
  task(q: Query, taskId: string): Coroutine<SentTaskRow[]>;
  secretsOf(q: Query, registrations: readonly string[]): Coroutine<SecretRow[]>;
  channel(q: Query, resource: string, kind: string, subscriber?: string): Coroutine<ChannelRow[]>;
  subscribers(q: Query, resource: string, kind: string, principal?: string): Coroutine<ChannelRow[]>;
  channelTargets(q: Query, keys: readonly ChannelKey[]): Coroutine<ChannelRow[]>;
  taskTargets(q: Query, ids: readonly string[]): Coroutine<TaskTargetRow[]>;
  changeTasks: ChangeTasks;
  changeTasksAtOnce?(q: Query, request: TaskChangesRequest, principals: readonly string[]): ReturnType<ChangeTasks>;
}

/** @param where the database, for messages */
export function seen<Tables extends LookedUpRows>(tables: Tables, where: string): Tables {
  function* unlessHidden<Row>(q: Query, rows: Coroutine<Row[]>, sought = 1): Coroutine<Row[]> {
    const found = yield* rows;
    if (found.length < sought) yield* refuseHiddenTables(q, where);
    return found;
  }
  const changeTasks: ChangeTasks = function* (q, request) {
    const answer = yield* tables.changeTasks(q, request);
    if ("tasks" in answer && answer.filtered === true && answer.tasks.length < request.taskIds.length)
      yield* refuseHiddenTables(q, where);
    return answer;
  };
  const looking: LookedUpRows = {
    task: (q, taskId) => unlessHidden(q, tables.task(q, taskId)),
    secretsOf: (q, registrations) => unlessHidden(q, tables.secretsOf(q, registrations), registrations.length),
    channel: (q, ...of) => unlessHidden(q, tables.channel(q, ...of)),
    subscribers: (q, ...of) => unlessHidden(q, tables.subscribers(q, ...of)),
    channelTargets: (q, keys) => unlessHidden(q, tables.channelTargets(q, keys), keys.length),
    taskTargets: (q, ids) => unlessHidden(q, tables.taskTargets(q, ids), ids.length),
    changeTasks,
    ...(tables.changeTasksAtOnce !== undefined && { changeTasksAtOnce: changeTasks }),
  };
  return { ...tables, ...looking };
}
