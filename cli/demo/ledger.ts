/** What a buyer's receivers applied, counted where it is applied: in the transaction that completes the event. */
import type { Database } from "../../runtime/db/types.js";
import type { ReceivedEvent } from "../../runtime/receiver/index.js";
import type { AnyStore } from "../../runtime/store/index.js";

export type DemoStore = AnyStore;

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
const INSERT = `insert into demo_effects (key, kind, operation, task, status, times) values (?, ?, ?, ?, ?, 1)
  on conflict (key) do update set times = demo_effects.times + 1`;

export interface EffectLedger {
  /** The effect of an event, to be given back by its handler. */
  effectOf(event: ReceivedEvent): (tx: unknown) => void | Promise<void>;
  /** Of what came by webhook; what the buyer's polls found had no sender. */
  applied(): Promise<Applied[]>;
}

export async function openEffectLedger(store: DemoStore): Promise<EffectLedger> {
  const database = store.database as Database;
  await database.write((q) => q.run(TABLE));
  return {
    effectOf: (event) => (tx) => {
      // On SQLite no promise, as its transactions want it.
      const done = database.within(tx, (q) => q.run(INSERT, valuesOf(event)));
      return done instanceof Promise ? done.then(() => undefined) : undefined;
    },
    applied: () => database.query((q) => q.rows<Applied>("select * from demo_effects where key not like 'poll:%'")),
  };
}

const valuesOf = ({ idempotencyKey, kind, operationId, taskId, status }: ReceivedEvent) =>
  [idempotencyKey, kind, operationId, taskId, status] as const;
