/** What a buyer's receivers applied, counted where it is applied: in the transaction that completes the event. */
import type { Database } from "better-sqlite3";
import { sql } from "kysely";
import type { Delivery } from "../../runtime/receiver/index.js";
import type { PostgresStore, SqliteStore } from "../../runtime/store/index.js";

export type DemoStore = SqliteStore | PostgresStore;

/** One event's effect. `times` is 1, or something is wrong. */
export interface Applied {
  readonly key: string;
  readonly kind: string;
  readonly operation: string | null;
  readonly task: string | null;
  readonly status: string | null;
  readonly times: number;
}

const TABLE = `create table if not exists demo_effects (
  key text primary key, kind text not null, operation text, task text, status text, times integer not null
)`;
const INSERT = "insert into demo_effects (key, kind, operation, task, status, times)";

export interface Ledger {
  /** The effect of an event, to be given back by its handler. */
  effectOf(event: Delivery): (tx: unknown) => void | Promise<void>;
  applied(): Promise<Applied[]>;
}

export async function openLedger(store: DemoStore): Promise<Ledger> {
  if (store.kind === "sqlite") {
    store.db.exec(TABLE);
    const insert = store.db.prepare(
      `${INSERT} values (?, ?, ?, ?, ?, 1) on conflict (key) do update set times = times + 1`,
    );
    return {
      effectOf: (event) => (_tx) => void insert.run(...valuesOf(event)),
      applied: async () => (store.db as Database).prepare<[], Applied>("select * from demo_effects").all(),
    };
  }
  await sql.raw(TABLE).execute(store.db);
  return {
    effectOf: (event) => async (tx) => {
      const [key, kind, operation, task, status] = valuesOf(event);
      await sql`insert into demo_effects (key, kind, operation, task, status, times)
        values (${key}, ${kind}, ${operation}, ${task}, ${status}, 1)
        on conflict (key) do update set times = demo_effects.times + 1`.execute(tx as never);
    },
    applied: async () => (await sql<Applied>`select * from demo_effects`.execute(store.db)).rows,
  };
}

const valuesOf = ({ idempotencyKey, kind, operationId, taskId, status }: Delivery) =>
  [idempotencyKey, kind, operationId, taskId, status] as const;
