/** The queue of many machines behind a pooler that hands out connections by the transaction. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openBossQueue } from "../../runtime/queue/pg-boss.js";
import { openPostgresStore } from "../../runtime/store/postgres/open.js";
import { hasPgbouncer, startPgbouncer } from "../support/pgbouncer.js";
import { startPostgres } from "../support/postgres.js";
import { job } from "./queue-suite.js";

if (!hasPgbouncer()) console.log("skipped: pgbouncer is not installed (apt-get install pgbouncer)");
else {
  const postgres = await startPostgres({ fsync: "off" });
  const url = await postgres.database();
  const pooler = await startPgbouncer(url, { default_pool_size: "6" });

  test("instances that start one after the other, and together, share the jobs", async () => {
    const instance = async () => {
      const store = await openPostgresStore({ url: pooler.through(url), listenUrl: url, connections: 3 });
      const queue = await openBossQueue(store, "test");
      return { store, queue };
    };
    const instances = [await instance(), ...(await Promise.all([instance(), instance()]))];
    const [one, two] = instances as [(typeof instances)[0], (typeof instances)[0]];
    const woken = new Promise<void>((resolve) => two.queue.onWake(resolve));
    await one.queue.transact((tx) => one.queue.add(tx, [job({ key: "a" }), job({ key: "b" })]));
    await woken;
    const taken = await two.queue.take({ now: Date.now(), limit: 10, room: () => 10 });
    assert.equal(taken.map(({ key }) => key).sort(), ["a", "b"]);
    await two.queue.settle(
      taken.map((of) => ({ job: of, verdict: { kind: "done" } as const })),
      Date.now(),
    );
    assert.equal(await one.queue.counts(), { ready: 0, dead: 0 });
    for (const { queue, store } of instances) {
      await queue.close();
      await store.close();
    }
  });

  test.after(async () => {
    await pooler.stop();
    await postgres.stop();
  });
}
test("a pooler, or why there is none", () => undefined);
test.run();
