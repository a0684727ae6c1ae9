import { test } from "uvu";
import { createSender } from "../../runtime/sender/index.js";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/postgres/open.js";
import { sharedPostgres } from "../support/postgres.js";
import { channelCase } from "./channels.case.js";
import { outboxCase } from "./outbox.case.js";
import type { SenderCase } from "./sender-suite.js";
import { taskBatchesCase } from "./task-batches.case.js";
import { taskCase } from "./tasks.case.js";

const postgres = await sharedPostgres();
let store: PostgresStore | undefined;

const on: SenderCase = {
  name: "sender on postgres",
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
};
taskCase(on);
taskBatchesCase(on);
outboxCase(on);
channelCase(on);

test.after(async () => {
  await store?.close();
  await postgres.stop();
});
test("the cluster is stopped", () => undefined);
test.run();
