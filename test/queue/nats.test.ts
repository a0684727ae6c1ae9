/** The queue whose jobs are handed out by NATS: the cases of every queue, then what only this one has. */
import { test } from "uvu";
import { openPostgres } from "../../runtime/db/index.js";
import { natsQueue } from "../../runtime/queue/index.js";
import { hasNats, NO_NATS, startNats } from "../support/nats.js";
import { sharedPostgres } from "../support/postgres.js";
import { jobNamesCase } from "./names.case.js";
import { queueCase } from "./queue.case.js";
import { queueFaultsCase } from "./queue-faults.case.js";
import type { QueueCase } from "./queue-suite.js";
import { queueWorkerCase } from "./queue-worker.case.js";

if (hasNats()) {
  const [postgres, nats] = await Promise.all([sharedPostgres(), startNats()]);
  let url = "";
  const engine: QueueCase = {
    name: "nats",
    open: () => openPostgres({ url, connections: 4 }),
    reset: async () => {
      url = await postgres.database();
    },
    // The tests' clock jumps, and no schedule of a server's with it: what is due is put in at once.
    queue: natsQueue({ servers: nats.url, resendMs: 0 }),
    pass: async (clock, ms) => {
      clock.at += ms;
      await new Promise((resolve) => setTimeout(resolve, ms));
    },
  };
  queueCase(engine);
  jobNamesCase(engine);
  queueWorkerCase(engine);
  queueFaultsCase(engine);

  test.after(async () => {
    await nats.stop();
    await postgres.stop();
  });
} else console.log(NO_NATS);

test("the servers are stopped", () => undefined);
test.run();
