/** A sender's tables in one of several databases: whoever writes rows of a principal first holds it there. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import type { ChannelKey, SenderTables } from "../sender-tables.js";
import type { TaskChangesRequest } from "../sent-tasks.js";
import type { PrincipalPart } from "./principal-part.js";
import { askedTogether, awayOf } from "./rows.js";

/** Tasks whose principal is remembered: it never changes. */
const KNOWN_TASKS = 50_000;

export function guardedSenderTables(
  tables: SenderTables,
  { hold, holdAll }: Pick<PrincipalPart, "hold" | "holdAll">,
  now: () => number,
): SenderTables {
  const owners = ownersOf(tables);
  const holdTasks = function* (q: Query, taskIds: readonly string[]): Coroutine<void> {
    yield* holdAll(q, yield* owners.of(q, taskIds));
  };
  const holdChannel = function* (q: Query, key: ChannelKey): Coroutine<void> {
    yield* holdAll(
      q,
      (yield* tables.channelTargets(q, [key])).map(({ principal }) => principal),
    );
  };
  return {
    ...tables,
    hold,
    *task(q, taskId) {
      yield* holdTasks(q, [taskId]);
      return yield* tables.task(q, taskId);
    },
    *changeTasks(q, request) {
      // A task that is not here is not for that nowhere: its principal may have left.
      yield* holdAll(q, [...(request.principals ?? []), ...(yield* owners.of(q, request.taskIds))]);
      return yield* tables.changeTasks(q, request);
    },
    ...(tables.changeTasksAtOnce !== undefined && {
      changeTasksAtOnce: (q: Query, request: TaskChangesRequest, principals: readonly string[]) =>
        tables.changeTasks(q, { ...request, here: askedTogether("principal", principals) }),
    }),
    *addTasks(q, rows) {
      yield* holdAll(
        q,
        rows.map(({ principal }) => principal),
      );
      return yield* tables.addTasks(q, rows);
    },
    *takeFree(q, rows) {
      const { channels = [], tasks = [] } = rows;
      const owned = channels.length === 0 ? [] : yield* tables.channelTargets(q, channels);
      yield* holdAll(q, [...owned.map(({ principal }) => principal), ...(yield* owners.of(q, tasks))]);
      return yield* tables.takeFree(q, rows);
    },
    *channel(q, resource, kind, subscriber = "") {
      yield* holdChannel(q, { resource, kind, subscriber });
      return yield* tables.channel(q, resource, kind, subscriber);
    },
    *claimChannel(q, key, principal) {
      yield* hold(q, principal);
      return yield* tables.claimChannel(q, key, principal);
    },
    *putChannel(q, row) {
      yield* hold(q, row.principal);
      return yield* tables.putChannel(q, row);
    },
    ...placedTables(tables, holdAll),
    ...dueTables(tables, now),
  };
}

/** What an operator moves. */
const placedTables = (
  tables: SenderTables,
  holdAll: PrincipalPart["holdAll"],
): Pick<SenderTables, "tasksAt" | "channelsAt"> => ({
  *tasksAt(q, at) {
    const rows = yield* tables.tasksAt(q, at);
    // Of these most are elsewhere, and anybody's: who moves one holds its principal.
    if (at.column === "reporting") return rows;
    yield* holdAll(
      q,
      rows.map(({ principal }) => principal),
    );
    return rows;
  },
  *channelsAt(q, at) {
    const rows = yield* tables.channelsAt(q, at);
    yield* holdAll(
      q,
      rows.map(({ principal }) => principal),
    );
    return rows;
  },
});

/** What is to be done in time, of principals that are here: of those that are on their way it is done where they arrive. */
function dueTables(
  tables: SenderTables,
  now: () => number,
): Pick<SenderTables, "dueChannels" | "dueCoalesced" | "dueSecrets"> {
  const here = function* <Row>(q: Query, rows: readonly Row[], ownerOf: (row: Row) => string | undefined) {
    const names = [...new Set(rows.map(ownerOf).filter((name) => name !== undefined))];
    const away = yield* awayOf(q, "principal", names, now());
    return rows.filter((row) => !away.has(ownerOf(row) ?? ""));
  };
  return {
    *dueChannels(q, kinds, at, limit) {
      return yield* here(q, yield* tables.dueChannels(q, kinds, at, limit), ({ principal }) => principal);
    },
    *dueCoalesced(q, at, limit) {
      return yield* here(q, yield* tables.dueCoalesced(q, at, limit), ({ principal }) => principal ?? undefined);
    },
    *dueSecrets(q, at, limit) {
      return yield* here(q, yield* tables.dueSecrets(q, at, limit), ({ principal }) => principal);
    },
  };
}

/** Whose tasks are, remembered: asked for before a row is locked, since whoever moves it holds the principal first. */
function ownersOf(tables: SenderTables) {
  const known = new Map<string, string>();
  return {
    *of(q: Query, taskIds: readonly string[]): Coroutine<string[]> {
      const missing = taskIds.filter((id) => !known.has(id));
      const rows = missing.length === 0 ? [] : yield* tables.knownTasks(q, missing);
      if (known.size + rows.length > KNOWN_TASKS) known.clear();
      const found = new Map(rows.map(({ task_id, principal }) => [task_id, principal]));
      const owners = taskIds.flatMap((id) => known.get(id) ?? found.get(id) ?? []);
      for (const [id, principal] of found) known.set(id, principal);
      return owners;
    },
  };
}
