/** Senders on PostgreSQL, whatever hands their events out: the cases of every sender, and where they run. */
import type { OpenQueue } from "../../runtime/queue/types.js";
import { createSender } from "../../runtime/sender/index.js";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/postgres/open.js";
import { sharedPostgres } from "../support/postgres.js";
import { attemptCase } from "./attempts.case.js";
import { bodyCase } from "./bodies.case.js";
import { boundCase } from "./bounds.case.js";
import { callbackCase } from "./callbacks.case.js";
import { channelCase } from "./channels.case.js";
import { coalescenceCase } from "./coalescence.case.js";
import { endpointNameCase } from "./endpoint-names.case.js";
import { followedCase } from "./followed.case.js";
import { heldChannelCase } from "./held-channels.case.js";
import { moveCase } from "./moves.case.js";
import { namesCase } from "./names.case.js";
import { notificationSetCase } from "./notification-sets.case.js";
import { notificationCase } from "./notifications.case.js";
import { notifiedSecretCase } from "./notified-secrets.case.js";
import { operationCase } from "./operations.case.js";
import { operatorCase } from "./operators.case.js";
import { outboxCase } from "./outbox.case.js";
import { secretCase } from "./secrets.case.js";
import type { SenderCase } from "./sender-suite.js";
import { setBackCase } from "./set-back.case.js";
import { strangersCase } from "./strangers.case.js";
import { takenCase } from "./taken.case.js";
import { taskBatchesCase } from "./task-batches.case.js";
import { taskCase } from "./tasks.case.js";
import { unreadableTaskCase } from "./unreadable-tasks.case.js";
import { untoldCase } from "./untold.case.js";

const cases = {
  taskCase,
  boundCase,
  heldChannelCase,
  taskBatchesCase,
  attemptCase,
  namesCase,
  outboxCase,
  channelCase,
  strangersCase,
  bodyCase,
  callbackCase,
  endpointNameCase,
  moveCase,
  notificationCase,
  notificationSetCase,
  operatorCase,
  operationCase,
  secretCase,
  notifiedSecretCase,
  coalescenceCase,
  setBackCase,
  takenCase,
  unreadableTaskCase,
  untoldCase,
  followedCase,
} as const;
type CaseName = keyof typeof cases;

/** What runs beside the database's own engine. */
interface Beside {
  readonly queue?: OpenQueue;
  /** Which of the cases; all by default. */
  readonly chosen?: (names: readonly CaseName[]) => readonly CaseName[];
}

/** @returns ends what it runs on */
export async function onPostgres(
  name: string,
  { queue, chosen = (names) => names }: Beside = {},
): Promise<() => Promise<void>> {
  const postgres = await sharedPostgres();
  let store: PostgresStore | undefined;

  const on: SenderCase = {
    name,
    queue,
    open: (options) => createSender({ ...options, store: store! }),
    reset: async () => {
      await store?.close();
      store = await openPostgresStore({ url: await postgres.database(), connections: 8 });
    },
    transaction: async (work) => {
      await store!.database.transaction(async (tx) => {
        await work(tx);
      });
    },
    corrupt: async (statement, work) => {
      await work();
      await store!.pool.query(statement);
    },
    bytes: async () => {
      const tables = "select tablename from pg_tables where schemaname = current_schema() order by tablename";
      const dumps: Buffer[] = [];
      for (const { tablename } of (await store!.pool.query<{ tablename: string }>(tables)).rows) {
        const text = `select t::text as row, (to_jsonb(t) ->> 'body') as body from ${tablename} t`;
        const { rows } = await store!.pool.query<{ row: string; body: string | null }>(text);
        // Bytes of a bytea are written as hex.
        for (const { row, body } of rows) dumps.push(Buffer.from(row), Buffer.from((body ?? "").slice(2), "hex"));
      }
      return Buffer.concat(dumps);
    },
    rows: async (statement) => (await store!.pool.query(statement)).rows as Record<string, unknown>[],
  };
  for (const one of chosen(Object.keys(cases) as CaseName[])) cases[one](on);
  return async () => {
    await store?.close();
    await postgres.stop();
  };
}
