import { test } from "uvu";
import { createSender } from "../../runtime/sender/index.js";
import { openPostgresStore, type PostgresStore } from "../../runtime/store/postgres/open.js";
import { sharedPostgres } from "../support/postgres.js";
import { attemptCase } from "./attempts.case.js";
import { channelCase } from "./channels.case.js";
import { coalescenceCase } from "./coalescence.case.js";
import { notificationCase } from "./notifications.case.js";
import { operatorCase } from "./operators.case.js";
import { outboxCase } from "./outbox.case.js";
import type { SenderCase } from "./sender-suite.js";
import { strangersCase } from "./strangers.case.js";
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
attemptCase(on);
outboxCase(on);
channelCase(on);
strangersCase(on);
notificationCase(on);
operatorCase(on);
coalescenceCase(on);

test.after(async () => {
  await store?.close();
  await postgres.stop();
});
test("the cluster is stopped", () => undefined);
test.run();
