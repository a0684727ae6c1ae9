/** What is under way while an application registers it anew in a transaction that it leaves open for longer than a lease lasts. */
import { setTimeout as pause } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openQueue } from "../../runtime/queue/index.js";
import type { OpenQueue } from "../../runtime/queue/types.js";
import { createSender } from "../../runtime/sender/index.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { closeBeside, openBeside } from "./beside-application.js";
import { optionsFor } from "./fixture.js";
import { drained, HOOK, start } from "./sender-suite.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

const NEW = "https://new.example/h";
const LEASE_MS = 1_200;
const WAITING = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
const queue: OpenQueue = async (database, topic, options) =>
  openQueue(database, topic, { ...options, leaseMs: LEASE_MS });

for (const ends of ["commit", "rollback"] as const)
  for (const ended of ["before", "after"] as const)
    test(`an attempt that ends ${ended} the ${ends} is the only one`, async () => {
      const clock = { at: Date.now() };
      const short = { queue, worker: { pollMs: 200, renewMs: 300 } };
      const place = await openBeside(postgres, clock, short);
      const { application, network, sender, database } = place;
      const other = await createSender({ ...optionsFor(clock, network), store: { database }, ...short });
      const { promise: answered, resolve: answer } = Promise.withResolvers<number>();
      try {
        await sender.tasks.attach(start(), { url: HOOK });
        await sender.tasks.update("task-1", { status: "working" });
        network.react = () => answered;
        sender.start();
        await until(() => network.sent.length === 1);
        await application.query("begin");
        await sender.tasks.attach(start(), { url: NEW }, { tx: application });
        await pause(2.5 * LEASE_MS);
        if (ended === "before") {
          answer(200);
          await pause(200);
        }
        await application.query(ends);
        // Whoever looks while the server hands the row on to who waits for it, which is milliseconds, would lease it too.
        await until(async () => (await application.query(WAITING)).rows.length === 0, "nobody waits for the row");
        other.start();
        await pause(2 * LEASE_MS);
        answer(200);
        await until(() => drained(sender));
        assert.equal(
          network.sent.map(({ url }) => url),
          [HOOK],
        );
      } finally {
        answer(200);
        await other.stop();
        await closeBeside(place);
      }
    });

test.run();
