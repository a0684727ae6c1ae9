/** Registrations, and the release of what was parked for them. */
import type { Database } from "better-sqlite3";
import type { SqliteDatabase } from "../../db/sqlite/open.js";
import {
  BLOCKED_DUE_MS,
  conflicts,
  type RegistrationRow,
  TOKEN_ERROR,
  toBinding,
  tokenFits,
  toRegistration,
} from "../rows.js";
import type { Registration, Registrations } from "../types.js";
import type { Guarded } from "./guarded.js";

interface ParkedRow {
  id: number;
  sender: number;
  ordering_key: string | null;
  token_digest: Buffer | null;
}

export interface SqliteRegistrations extends Registrations {
  /** Inside the caller's transaction: has a registration for the event appeared? */
  lookup(route: string, operationId: string | null): Registration | undefined;
  expire(now: number, limit: number): number;
}

const valuesOf = (registration: Registration): (string | number | Uint8Array | null)[] => {
  const { route, operationId, sender, kind, mode, format, taskType, tokenDigest, release, events } = registration;
  const named = events === null ? null : JSON.stringify(events);
  return [
    ...[route, operationId ?? "", sender, kind, mode, format, taskType, tokenDigest, release, named],
    registration.expires,
  ];
};

const statementsOf = (db: Database) => ({
  bindingOf: db.prepare<[string], RegistrationRow>("select * from adbind_registrations where route = ? limit 1"),
  own: db.prepare<[string, string], RegistrationRow>(
    "select * from adbind_registrations where route = ? and operation_id = ?",
  ),
  upsert: db.prepare(
    "insert into adbind_registrations (route, operation_id, sender, kind, mode, format, task_type, token_digest, " +
      "release, events, expires) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (route, operation_id) do update set " +
      "task_type = excluded.task_type, token_digest = excluded.token_digest, release = excluded.release, " +
      "events = excluded.events, expires = excluded.expires",
  ),
  removeOne: db.prepare("delete from adbind_registrations where route = ? and operation_id = ?"),
  // A registration without an operation takes every parked event of its route.
  parked: db.prepare<[string, string, string], ParkedRow>(
    "select id, sender, ordering_key, token_digest from adbind_inbox where state = 'parked' and route = ? " +
      "and (? = '' or operation_id = ?) order by id",
  ),
  before: db.prepare(
    "select 1 from adbind_inbox where state = 'pending' and sender = ? and ordering_key = ? and id < ? limit 1",
  ),
  release: db.prepare(
    "update adbind_inbox set state = 'pending', due = ?, task_type = coalesce(task_type, ?) where id = ?",
  ),
  deadLetter: db.prepare("update adbind_inbox set state = 'dead', error = ? where id = ?"),
  oldest: db.prepare<[number, number], { route: string; operation_id: string }>(
    "select route, operation_id from adbind_registrations where expires <= ? order by expires limit ?",
  ),
});

/** Lets go of the events that waited for a registration. @returns how many are pending now */
function unpark(
  { parked, before, release, deadLetter }: ReturnType<typeof statementsOf>,
  registration: Registration,
  now: number,
): number {
  const operation = registration.operationId ?? "";
  let released = 0;
  for (const row of parked.all(registration.route, operation, operation)) {
    if (!tokenFits(registration.tokenDigest, row.token_digest)) {
      deadLetter.run(TOKEN_ERROR, row.id);
      continue;
    }
    const behind = row.ordering_key !== null && before.get(row.sender, row.ordering_key, row.id) !== undefined;
    release.run(behind ? BLOCKED_DUE_MS : now, registration.taskType, row.id);
    released += 1;
  }
  return released;
}

/**
 * The registration of the operation and no other: every request asks, and those that ask in one turn of the event loop share a
 * look at the file. What it costs is for the most part that readers tell writers of it.
 */
function ownTogether(
  { file, told }: SqliteDatabase,
  own: ReturnType<typeof statementsOf>["own"],
): Registrations["own"] {
  type Asked = {
    readonly route: string;
    readonly operationId: string;
    readonly resolve: (found: Registration | undefined) => void;
    readonly reject: (error: unknown) => void;
  };
  const each = (asked: readonly Asked[]) => asked.map(({ route, operationId }) => own.get(route, operationId));
  const together = file.transaction(each);
  let waiting: Asked[] = [];
  const answer = (): void => {
    const asked = waiting;
    waiting = [];
    try {
      const rows = told(() => (asked.length > 1 ? together : each)(asked));
      for (const [at, row] of rows.entries()) asked[at]!.resolve(row && toRegistration(row));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };
  return ({ route }, operationId) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ route, operationId: operationId ?? "", resolve, reject }) === 1) setImmediate(answer);
    });
}

export function sqliteRegistrations(database: SqliteDatabase, guard: Guarded): SqliteRegistrations {
  const { file: db, told } = database;
  const statements = statementsOf(db);
  const { bindingOf, own, upsert, removeOne, oldest } = statements;

  const lookup = (route: string, operationId: string | null): Registration | undefined => {
    const row = (operationId === null ? undefined : own.get(route, operationId)) ?? own.get(route, "");
    return row && toRegistration(row);
  };

  return {
    lookup,
    add: (registration, now) =>
      guard.ofSender(registration.sender, () => {
        const existing = bindingOf.get(registration.route);
        if (existing !== undefined && conflicts(toBinding(existing), registration)) {
          return { conflict: toBinding(existing) };
        }
        upsert.run(...valuesOf(registration));
        return { released: unpark(statements, registration, now) };
      }),
    async binding(route) {
      const row = told(() => bindingOf.get(route));
      return row && toBinding(row);
    },
    own: ownTogether(database, own),
    async find(route, operationId) {
      return told(() => lookup(route, operationId));
    },
    remove: (route, operationId) => guard.ofRoute(route, () => removeOne.run(route, operationId ?? "").changes === 1),
    expire(now, limit) {
      const rows = oldest.all(now, limit);
      for (const row of rows) removeOne.run(row.route, row.operation_id);
      return rows.length;
    },
  };
}
