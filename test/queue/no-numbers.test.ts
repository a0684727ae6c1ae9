/** A server that gives no numbers to transactions any more reads on and takes no writes, until somebody has cleaned up. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { isPassingFault, isValueFault } from "../../runtime/db/open.js";
import { openQueue } from "../../runtime/queue/index.js";
import { createWorker } from "../../runtime/queue/worker.js";
import { runStatements, sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { job, put } from "./queue-suite.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

/** As servers say it, with the code of what is too large for an index. */
const SAID =
  "database is not accepting commands that assign new transaction IDs to avoid wraparound data loss in database";

test("what was delivered while a server had no numbers for transactions is noted as delivered once it has", async () => {
  const url = await postgres.database();
  const database = await openPostgres({ url, connections: 3 });
  const queue = openQueue(database, "test");
  const faults: unknown[] = [];
  let sent = 0;
  const worker = createWorker({
    queue,
    handle: async () => {
      sent += 1;
      await runStatements(
        url,
        `create function refused() returns trigger language plpgsql as $$ begin raise '${SAID}' using errcode = '54000'; end $$`,
        "create trigger refused before update or delete on adbind_jobs for each statement execute function refused()",
      );
      return { outcome: { kind: "done" }, healthy: true };
    },
    onFault: (error) => faults.push(error),
    longestDelayMs: 4_000_000,
    now: Date.now,
    pollMs: 10,
  });
  try {
    await put(queue, job());
    worker.start();
    // By then what is a fault of its own would be set aside.
    await until(() => faults.length >= 6);
    assert.ok(faults.every((error) => isPassingFault(error) && !isValueFault(error)));
    await runStatements(url, "drop trigger refused on adbind_jobs");
    await until(() => worker.out === 0);
    assert.equal([sent, Object.values(await queue.counts()).reduce((sum, count) => sum + count, 0)], [1, 0]);
  } finally {
    await worker.stop();
    await queue.close();
    await database.close();
  }
});

test.run();
