/** What an endpoint has failed at for too long is given up by the time of the failure, however late that is written down. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openQueue } from "../../runtime/queue/index.js";
import { createWorker } from "../../runtime/queue/worker.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { until } from "../support/until.js";
import { job, NOW, put } from "./queue-suite.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

test("an event has the last attempt of its day, though the day ends while the one before is noted", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-giving-up-"));
  const store = openSqliteStore({ path: path.join(folder, "q.db") });
  let at = NOW;
  let leaps = false;
  const queue = openQueue(store.database, "t", { now: () => at });
  const attempts: number[] = [];
  const worker = createWorker({
    queue: {
      ...queue,
      async pause(endpoint, health) {
        if (leaps) at = NOW + DAY_MS;
        return queue.pause(endpoint, health);
      },
    },
    async handle() {
      attempts.push(at - NOW);
      if (at >= NOW + DAY_MS) return { outcome: { kind: "dead", error: "its day is over" }, healthy: false };
      return {
        outcome: { kind: "later", due: Math.min(at + HOUR_MS, NOW + DAY_MS), error: "refused" },
        healthy: false,
      };
    },
    now: () => at,
    failuresToPause: 1,
    pauseMs: 1,
    maxPauseMs: 1,
    giveUpMs: DAY_MS,
    longestDelayMs: HOUR_MS,
    pollMs: 10,
  });
  await put(queue, job());
  worker.start();
  await until(async () => (await queue.list())[0]?.attempts === 1 && worker.out === 0, "it was attempted");
  leaps = true;
  at = NOW + DAY_MS - HOUR_MS / 2;
  await until(async () => (await queue.counts()).dead === 1, "it has ended");
  await worker.stop();
  assert.equal(attempts, [0, DAY_MS - HOUR_MS / 2, DAY_MS]);
  assert.is((await queue.list({ state: "dead" }))[0]!.error, "its day is over");
  await queue.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test.run();
