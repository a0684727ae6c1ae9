/** The queue of many machines behind a pooler that hands out connections by the transaction. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { hasPgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { sharedPostgres } from "../support/postgres.js";
import { queueCase } from "./queue.case.js";
import { job, put } from "./queue-suite.js";

if (!hasPgbouncer()) console.log("skipped: pgbouncer is not installed (apt-get install pgbouncer)");
else {
  const postgres = await sharedPostgres();
  let url = await postgres.database();
  const pooler = await startPgbouncer(url, { default_pool_size: "6" });

  queueCase({
    name: "postgres behind a pooler",
    open: () => openPostgres({ url: pooler.through(url), connections: 4 }),
    reset: async () => {
      url = await postgres.database();
    },
    pass: async (clock, ms) => {
      clock.at += ms;
      await new Promise((resolve) => setTimeout(resolve, ms));
    },
  });

  test("instances that start one after the other, and together, share the jobs, and hear by a second URL", async () => {
    url = await postgres.database();
    const instance = async () => {
      const database = await openPostgres({ url: pooler.through(url), listenUrl: url, connections: 3 });
      return { database, queue: openQueue(database, "test") };
    };
    const instances = [await instance(), ...(await Promise.all([instance(), instance()]))];
    const [one, two] = instances as [(typeof instances)[0], (typeof instances)[0]];
    const woken = new Promise<void>((resolve) => two.queue.onWake(resolve));
    await put(one.queue, job({ key: "a" }), job({ key: "b" }));
    await woken;
    const leased = await two.queue.take({ now: Date.now(), limit: 10, room: () => 10 });
    assert.equal(leased.map(({ key }) => key).sort(), ["a", "b"]);
    await two.queue.ack(
      leased.map((of) => ({ job: of, outcome: { kind: "done" } })),
      Date.now(),
    );
    assert.is((await one.queue.counts()).ready, 0);
    for (const { queue, database } of instances) {
      await queue.close();
      await database.close();
    }
  });

  test.after(async () => {
    await pooler.stop();
    await postgres.stop();
  });
}
test("a pooler, or why there is none", () => undefined);
test.run();
