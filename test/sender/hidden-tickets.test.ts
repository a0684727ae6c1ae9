/** Row level security that hides the rows of events whose tickets are in the stream of NATS. */
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { natsQueue } from "../../runtime/queue/index.js";
import { hasNats, NO_NATS, startNats } from "../support/nats.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { administered } from "./administered.js";
import { push, start } from "./sender-suite.js";

/** Longest that it may take until what was hidden goes, in milliseconds. */
const SOON_MS = 15_000;
/** More than are attempted at a time. */
const EVENTS = 200;

if (hasNats()) {
  const [postgres, nats] = [await sharedPostgres(), await startNats()];
  test.after(async () => {
    await postgres.stop();
    await nats.stop();
  });
  for (const table of ["adbind_jobs", "adbind_job_bodies"])
    test(`tickets are not done with, and nothing is set aside, while ${table} is hidden`, async () => {
      const queue = natsQueue({ servers: nats.url.split(","), name: table } as never);
      const { sender, network, lines, by, clock, close } = await administered(postgres, queue);
      clock.at = Date.now();
      try {
        const ids = Array.from({ length: EVENTS }, (_, n) => `task-${n}`);
        for (const taskId of ids) await sender.tasks.register(start({ taskId }), { push });
        // So slow that tickets wait in the stream.
        network.react = () => sleep(100, 200);
        for (const taskId of ids) await sender.tasks.update(taskId, { status: "working" });
        sender.start();
        await until(() => network.sent.length > 20);
        await by(`alter table ${table} enable row level security`);
        await until(() => lines.some(({ text }) => /row level security/.test(text)));
        await sleep(2_000);
        await by(`alter table ${table} disable row level security`);
        const since = performance.now();
        await until(async () => {
          clock.at = Date.now();
          return (await sender.outbox.counts()).waiting === 0;
        });
        assert.ok(performance.now() - since < SOON_MS, String(performance.now() - since));
        const keys = new Set(network.sent.map(({ body }) => body.idempotency_key));
        assert.is(keys.size, EVENTS);
        assert.is((await sender.outbox.counts()).refused, 0);
      } finally {
        await close();
      }
    });
} else {
  test(NO_NATS, () => undefined);
}

test.run();
