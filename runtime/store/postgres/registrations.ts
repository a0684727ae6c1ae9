/** Registrations, and the release of what was parked for them. */
import { rowValues, sql } from "../../db/postgres/sql.js";
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
import { gathering } from "./gathering.js";
import type { Guarded } from "./guarded.js";
import type { Db, Tx } from "./tables.js";
import { lockTask } from "./tasks.js";

/** Parking and registering take turns per route: else one could miss the other and the event wait for ever. */
export const lockRoute = (tx: Tx, route: string): Promise<unknown> =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`adbind route ${route}`}, 0))`.run(tx);

/** The registration of the operation, else the route's own. */
export async function lookup(
  db: Db | Tx,
  route: string,
  operationId: string | null,
): Promise<Registration | undefined> {
  const row = await sql<RegistrationRow>`
    select * from adbind_registrations where route = ${route} and operation_id in (${operationId ?? ""}, '')
    order by operation_id desc limit 1`.first(db);
  return row && toRegistration(row);
}

interface Asked {
  readonly route: string;
  readonly operationId: string | null;
}

/** The registration of the operation and no other: every request asks, and those that ask at the same time are answered together. */
function ownTogether(db: Db): Registrations["own"] {
  const together = async (all: readonly Asked[]): Promise<{ result: Registration | undefined }[]> => {
    const rows = await sql<RegistrationRow & { at: number }>`
      select g.at, r.* from unnest(${all.map(({ route }) => route)}::text[],
        ${all.map(({ operationId }) => operationId ?? "")}::text[]) with ordinality as g (route, operation_id, at)
      cross join lateral (
        select * from adbind_registrations where route = g.route and operation_id = g.operation_id limit 1
      ) as r`
      .kept()
      .rows(db);
    const registrations = new Map(rows.map(({ at, ...row }) => [at, toRegistration(row)]));
    return all.map((_one, index) => ({ result: registrations.get(index + 1) }));
  };
  const alone = async (one: Asked): Promise<Registration | undefined> => (await together([one]))[0]!.result;
  const found = gathering({ together, alone });
  return ({ route }, operationId) => found({ route, operationId });
}

const ofRoute = (db: Db | Tx, route: string): Promise<RegistrationRow | undefined> =>
  sql<RegistrationRow>`select * from adbind_registrations where route = ${route} limit 1`.first(db);

export function postgresRegistrations(db: Db, guard: Guarded): Registrations {
  return {
    add: (registration, now) =>
      db.transaction(async (tx) => {
        await guard.sender(tx, registration.sender);
        await lockRoute(tx, registration.route);
        const existing = await ofRoute(tx, registration.route);
        if (existing !== undefined && conflicts(toBinding(existing), registration)) {
          return { conflict: toBinding(existing) };
        }
        await upsert(tx, registration);
        return { released: await unpark(tx, registration, now) };
      }),
    async binding(route) {
      const row = await ofRoute(db, route);
      return row && toBinding(row);
    },
    find: (route, operationId) => lookup(db, route, operationId),
    own: ownTogether(db),
    remove: (route, operationId) =>
      db.transaction(async (tx) => {
        await guard.route(tx, route);
        const removed = await sql`
          delete from adbind_registrations where route = ${route} and operation_id = ${operationId ?? ""}`.run(tx);
        return removed === 1;
      }),
  };
}

async function upsert(tx: Tx, registration: Registration): Promise<void> {
  const { route, operationId, sender, kind, mode, format, taskType, tokenDigest, release, expires } = registration;
  const events = registration.events === null ? null : JSON.stringify(registration.events);
  const row = {
    ...{ route, operation_id: operationId ?? "", sender, kind, mode, format },
    ...{ task_type: taskType, token_digest: tokenDigest, release, events, expires },
  };
  await sql`
    insert into adbind_registrations ${rowValues(row)} on conflict (route, operation_id) do update set
      task_type = excluded.task_type, token_digest = excluded.token_digest, release = excluded.release,
      events = excluded.events, expires = excluded.expires`.run(tx);
}

interface ParkedRow {
  readonly id: number;
  readonly sender: number;
  readonly ordering_key: string | null;
  readonly token_digest: Uint8Array | null;
}

async function unpark(tx: Tx, { route, operationId, taskType, tokenDigest }: Registration, now: number) {
  const ofOperation = operationId === null ? sql`` : sql` and operation_id = ${operationId}`;
  const rows = await sql<ParkedRow>`
    select id, sender, ordering_key, token_digest from adbind_inbox where state = 'parked' and route = ${route}${ofOperation}
    order by id`.rows(tx);
  let released = 0;
  for (const row of rows) {
    // Route, then task, then event: the order in which an arrival locks them.
    if (row.ordering_key !== null) await lockTask(tx, { sender: row.sender, taskId: row.ordering_key });
    if (!tokenFits(tokenDigest, row.token_digest)) {
      await sql`
        update adbind_inbox set state = 'dead', error = ${TOKEN_ERROR} where id = ${row.id} and state = 'parked'`.run(
        tx,
      );
      continue;
    }
    const behind = row.ordering_key !== null && (await orderingKeyBusy(tx, row.sender, row.ordering_key));
    await sql`
      update adbind_inbox set state = 'pending', due = ${behind ? BLOCKED_DUE_MS : now},
        task_type = coalesce(task_type, ${taskType}) where id = ${row.id} and state = 'parked'`.run(tx);
    released += 1;
  }
  return released;
}

/** Is an event of the task waiting or being handled? */
export async function orderingKeyBusy(tx: Tx, sender: number, orderingKey: string): Promise<boolean> {
  const found = await sql`
    select id from adbind_inbox where state = 'pending' and sender = ${sender} and ordering_key = ${orderingKey} limit 1`.first(
    tx,
  );
  return found !== undefined;
}
