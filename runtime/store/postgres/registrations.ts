/** Registrations, and the release of what was parked for them. */
import { type SelectQueryBuilder, sql } from "kysely";
import { BLOCKED_DUE_MS, conflicts, TOKEN_ERROR, toBinding, tokenFits, toRegistration } from "../rows.js";
import type { Registration, Registrations } from "../types.js";
import type { Db, Tables, Tx } from "./tables.js";
import { lockTask } from "./tasks.js";

/** Parking and registering take turns per route: else one could miss the other and the event wait for ever. */
export const lockRoute = (tx: Tx, route: string): Promise<unknown> =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`adbind route ${route}`}, 0))`.execute(tx);

/** The registration of the operation, else the route's own. */
export async function lookup(
  db: Db | Tx,
  route: string,
  operationId: string | null,
): Promise<Registration | undefined> {
  const row = await db
    .selectFrom("adbind_registrations")
    .selectAll()
    .where("route", "=", route)
    .where("operation_id", "in", [operationId ?? "", ""])
    .orderBy("operation_id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && toRegistration(row);
}

const ofRoute = (db: Db | Tx, route: string) =>
  db.selectFrom("adbind_registrations").selectAll().where("route", "=", route).limit(1);

export function postgresRegistrations(db: Db): Registrations {
  return {
    add: (registration, now) =>
      db.transaction().execute(async (tx) => {
        await lockRoute(tx, registration.route);
        const existing = await ofRoute(tx, registration.route).executeTakeFirst();
        if (existing !== undefined && conflicts(toBinding(existing), registration)) {
          return { conflict: toBinding(existing) };
        }
        await upsert(tx, registration);
        return { released: await unpark(tx, registration, now) };
      }),
    async binding(route) {
      const row = await ofRoute(db, route).executeTakeFirst();
      return row && toBinding(row);
    },
    find: (route, operationId) => lookup(db, route, operationId),
    async own(route, operationId) {
      const row = await ofRoute(db, route)
        .where("operation_id", "=", operationId ?? "")
        .executeTakeFirst();
      return row && toRegistration(row);
    },
    async remove(route, operationId) {
      const { numDeletedRows } = await db
        .deleteFrom("adbind_registrations")
        .where("route", "=", route)
        .where("operation_id", "=", operationId ?? "")
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  };
}

async function upsert(tx: Tx, registration: Registration): Promise<void> {
  const changing = {
    task_type: registration.taskType,
    token_digest: registration.tokenDigest,
    release: registration.release,
    expires: registration.expires,
  };
  const { route, sender, kind, mode, format } = registration;
  await tx
    .insertInto("adbind_registrations")
    .values({ route, operation_id: registration.operationId ?? "", sender, kind, mode, format, ...changing })
    .onConflict((on) => on.columns(["route", "operation_id"]).doUpdateSet(changing))
    .execute();
}

async function unpark(tx: Tx, registration: Registration, now: number): Promise<number> {
  const ofOperation = <O>(query: SelectQueryBuilder<Tables, "adbind_inbox", O>) =>
    registration.operationId === null ? query : query.where("operation_id", "=", registration.operationId);
  const rows = await ofOperation(
    tx
      .selectFrom("adbind_inbox")
      .select(["id", "sender", "lane", "token_digest"])
      .where("state", "=", "parked")
      .where("route", "=", registration.route),
  )
    .orderBy("id")
    .execute();
  let released = 0;
  for (const row of rows) {
    const fits = tokenFits(registration.tokenDigest, row.token_digest);
    // Route, then task, then event: the order in which an arrival locks them.
    if (row.lane !== null) await lockTask(tx, { sender: row.sender, taskId: row.lane });
    const behind = fits && row.lane !== null && (await laneBusy(tx, row.sender, row.lane));
    await tx
      .updateTable("adbind_inbox")
      .set(
        fits
          ? {
              state: "pending",
              due: behind ? BLOCKED_DUE_MS : now,
              task_type: sql<string | null>`coalesce(task_type, ${registration.taskType})`,
            }
          : { state: "dead", error: TOKEN_ERROR },
      )
      .where("id", "=", row.id)
      .where("state", "=", "parked")
      .execute();
    if (fits) released += 1;
  }
  return released;
}

/** Is an event of the task waiting or being handled? */
export async function laneBusy(tx: Tx, sender: number, lane: string): Promise<boolean> {
  const found = await tx
    .selectFrom("adbind_inbox")
    .select("id")
    .where("state", "=", "pending")
    .where("sender", "=", sender)
    .where("lane", "=", lane)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
